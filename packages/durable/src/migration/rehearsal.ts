import { type Lease, messageOf } from '@allium/core'
import type { DurableRun } from '@allium/store'
import type { Host } from '../host/host.ts'
import { checkOf } from '../journal/run-journal.ts'
import { differencesOf, otherCode, shapesOf } from '../run/code-differences.ts'
import { currentOwner } from '../run/current-owner.ts'
import { startTurn } from '../run/start-turn.ts'
import { storedTask } from '../run/task.ts'
import { RehearsalJournal } from './rehearsal-journal.ts'

/** The code of this process, with the store of the run. */
export interface RehearsalHost
  extends Pick<Host, 'agent' | 'version' | 'shape' | 'runs' | 'lease' | 'clock' | 'resolvePrincipal'> {
  /** The reason that an error gives why the run does not fit. @default its message */
  reasonOf?(error: unknown): string
}

/** The outcome of a rehearsal. */
export interface Rehearsal {
  /** Why the run does not fit; undefined if it fits. Names the step or the layer. */
  readonly reason: string | undefined
  /** How many recorded steps the code requested again. */
  readonly replayed: number
  /** How many steps are recorded. */
  readonly recorded: number
}

/** Replays the recorded steps of a run with the code of this process, up to the first step that is not recorded. Records and reports nothing. */
export async function rehearse(host: RehearsalHost, run: DurableRun): Promise<Rehearsal> {
  const { agent, runs, resolvePrincipal: resolve } = host
  const { key, version } = run
  const task = storedTask(run.task)
  const lease: Lease = { key, token: 0, version: 0 }
  const steps = await runs.steps(lease, run.run)
  const ended = (reason?: string, replayed = 0): Rehearsal => ({ reason, replayed, recorded: steps.length })
  const owner = await currentOwner(agent, key, { stored: task.principal, resolve })
  if (owner === undefined) return ended('The principal of the run no longer exists.')
  // A run of another version is only moved by its steps.
  const shapes = await shapesOf(host, run)
  const { structure } = differencesOf(host, run, { task, steps, shapes })
  if (version === host.version && structure.length > 0) return ended(otherCode(run, structure))
  const check = checkOf(steps, host, shapes)
  const journal = new RehearsalJournal(lease, steps, { turnId: run.run, check })
  const session = agent.session({ id: key.sessionId, principal: owner.principal as never })
  const cancel = host.clock.after(2 * host.lease, () => journal.stop())
  try {
    const { agentRun } = await startTurn(session, { run, task, journal, version: host.version })
    journal.onStop = () => agentRun.abort('rehearsal')
    for await (const event of agentRun) if (!journal.isStopped) check.see(event)
    return ended(undefined, journal.replayed)
  } catch (error) {
    return ended(journal.fits ? undefined : (host.reasonOf?.(error) ?? messageOf(error)), journal.replayed)
  } finally {
    cancel()
    await session.close()
  }
}
