import { AbortError, type Emit, type Journal, type Lease, messageOf, type ToolResult } from '@allium/core'
import { type DurableRun, type RecordedStep, replayStep } from '@allium/store'
import { isTakeoverStep, type RunCheck } from '@allium/store/journal'
import type { Host } from '../host/host.ts'
import { allowPatches, isPatchStep } from '../journal/patched.ts'
import { checkOf } from '../journal/run-journal.ts'
import { differencesOf, otherCode } from '../run/code-differences.ts'
import { currentOwner } from '../run/current-owner.ts'
import { startTurn } from '../run/start-turn.ts'
import { storedTask } from '../run/task.ts'

/** The code of this process, with the store of the run. */
export interface RehearsalHost extends Pick<Host, 'agent' | 'version' | 'shape' | 'runs' | 'clock' | 'lease'> {
  readonly options: Pick<Host['options'], 'resolvePrincipal'>
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
  const { key, version } = run
  const task = storedTask(run.task)
  const lease: Lease = { key, token: 0, version: 0 }
  const steps = await host.runs.steps(lease, run.run)
  const ended = (reason?: string, replayed = 0): Rehearsal => ({ reason, replayed, recorded: steps.length })
  const owner = await currentOwner(host.agent, key, { stored: task.principal, resolve: host.options.resolvePrincipal })
  if (owner === undefined) return ended('The principal of the run no longer exists.')
  // A run of another version is only moved by its steps.
  const { structure } = await differencesOf(host, run, { task, steps })
  if (version === host.version && structure.length > 0) return ended(otherCode(run, structure))
  const check = await checkOf(steps, host, task.code)
  const journal = new RehearsalJournal(lease, steps, { turnId: run.run, check })
  const session = host.agent.session({ id: key.sessionId, principal: owner.principal as never })
  allowPatches(journal, { turnId: run.run, isNewCode: (task.version ?? version) === host.version })
  const cancel = host.clock.after(2 * host.lease, () => journal.stop())
  try {
    const { agentRun } = await startTurn(session, { turnId: run.run, task, journal })
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

/** Replays recorded steps, and stops when the code has requested all that it can without new ones. */
class RehearsalJournal implements Journal {
  /** Nothing of the turn is stored. */
  readonly takenOver = true
  readonly lease: Lease
  onStop = () => {}
  replayed = 0
  /** The code has requested each recorded step that it could. */
  fits = false
  /** The calls that still run are cancelled. */
  isStopped = false
  #hasNew = false
  readonly #stopped = rejection()
  readonly #turnId: string
  readonly #steps: ReadonlyMap<string, unknown>
  readonly #check: RunCheck

  constructor(lease: Lease, steps: readonly RecordedStep[], { turnId, check }: { turnId: string; check: RunCheck }) {
    this.lease = lease
    this.#turnId = turnId
    this.#steps = new Map(steps.map(({ id, body }) => [id, body]))
    this.#check = check
  }

  known(id: string): boolean {
    return this.#steps.has(id)
  }
  checkEnd(turnId: string): void {
    if (this.fits) return
    this.#check.checkEnd(turnId)
    this.fits = turnId === this.#turnId
  }
  async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
    this.#check.use(id)
    if (this.#steps.has(id)) {
      this.replayed++
      const value = await replayStep<T, C>(this.#steps.get(id), emit)
      this.#stopAtEnd()
      return value
    }
    if (isPatchStep(id)) return work(emit)
    // A process that takes the run over adds such steps before recorded ones.
    if (isTakeoverStep(id)) return undefined as T
    await Promise.race([this.#check.wait(id), this.#stopped.promise])
    await this.#check.checkLost()
    this.#check.begin(id)
    // Its agent has recorded steps.
    if (this.#check.hasInner(id)) return work(emit)
    this.#hasNew = true
    this.#stopAtEnd()
    // Tools that wait for this one may have recorded steps, too.
    const callId = /(?<!:once):tool:(.+):\d+$/s.exec(id)?.[1]
    if (callId !== undefined) this.#check.refuse(id)
    if (this.fits || callId === undefined) return this.#stopped.promise
    return { callId, content: 'Not run in a rehearsal.', isError: true, status: 'error' } satisfies ToolResult as T
  }
  /** Ends the rehearsal. Parallel calls may still be requested after the first new step. */
  stop(): void {
    this.isStopped = true
    this.fits ||= this.#hasNew && this.#check.missing() === undefined
    this.#stopped.reject(new AbortError('rehearsal'))
    this.onStop()
  }
  #stopAtEnd(): void {
    if (this.#hasNew && this.#check.missing(true) === undefined) this.stop()
  }
}

/** A promise that only rejects. */
function rejection() {
  let reject = (_: unknown) => {}
  const promise = new Promise<never>((_, rejects) => (reject = rejects))
  promise.catch(() => {})
  return { promise, reject: (error: unknown) => reject(error) }
}
