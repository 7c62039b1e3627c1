import { AbortError, type Emit, isAlliumError, type Journal, type Lease, messageOf } from '@allium/core'
import { type DurableRun, type RecordedStep, ReplayCheck, replayStep } from '@allium/store'
import { currentOwner } from './current-owner.ts'
import { withoutPositions } from './former-steps.ts'
import type { Host } from './host.ts'
import { allowPatches, isPatchStep } from './patched.ts'
import { startTurn } from './start-turn.ts'
import { storedTask } from './task.ts'

/** The code of this process, with the store of the run. */
export interface RehearsalHost extends Pick<Host, 'agent' | 'version' | 'runs' | 'clock' | 'lease'> {
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
export async function rehearse(
  host: RehearsalHost,
  { run, key, version, task: stored }: DurableRun,
): Promise<Rehearsal> {
  const task = storedTask(stored)
  const lease: Lease = { key, token: 0, version: 0 }
  const recorded = await host.runs.steps(lease, run)
  const steps = task.code === undefined ? withoutPositions(recorded) : recorded
  const ended = (reason?: string, replayed = 0): Rehearsal => ({ reason, replayed, recorded: steps.length })
  const owner = await currentOwner(host.agent, key, { stored: task.principal, resolve: host.options.resolvePrincipal })
  if (owner === undefined) return ended('The principal of the run no longer exists.')
  const journal = new RehearsalJournal(lease, run, steps)
  const isNewCode = (task.version ?? version) === host.version
  const session = host.agent.session({ id: key.sessionId, principal: owner.principal as never })
  allowPatches(journal, { turnId: run, isNewCode })
  const cancel = host.clock.after(host.lease, () => journal.stop())
  try {
    const agentRun = startTurn(session, { turnId: run, task, journal })
    journal.onStop = () => agentRun.abort('rehearsal')
    for await (const _ of agentRun);
    return ended(undefined, journal.replayed)
  } catch (error) {
    if (isAlliumError(error, 'journal.diverged') || isAlliumError(error, 'journal.corrupt') || !journal.hasEnded)
      return ended(host.reasonOf?.(error) ?? messageOf(error), journal.replayed)
    return ended(journal.gap(), journal.replayed)
  } finally {
    cancel()
    await session.close()
  }
}

/** Whether a layer looks for what a lost process left. A process that takes the run over adds such steps before recorded calls. */
function isTakeoverStep(id: string): boolean {
  return id.includes(':takeover/')
}

/** Replays recorded steps, and stops at the first other one, once all recorded calls were requested. */
class RehearsalJournal implements Journal {
  /** Nothing of the turn is stored. */
  readonly takenOver = true
  readonly lease: Lease
  onStop = () => {}
  replayed = 0
  /** The code has come to the end of the recording. */
  hasEnded = false
  /** The first requested step that is not recorded. */
  #firstNew: string | undefined
  readonly #turnId: string
  readonly #steps: ReadonlyMap<string, unknown>
  readonly #check: ReplayCheck
  readonly #stopped = new AbortController()

  constructor(lease: Lease, turnId: string, steps: readonly RecordedStep[]) {
    this.lease = lease
    this.#turnId = turnId
    this.#steps = new Map(steps.map(({ id, body }) => [id, body]))
    this.#check = new ReplayCheck(this.#steps.keys())
  }

  known(id: string): boolean {
    return this.#steps.has(id)
  }
  checkEnd(turnId: string): void {
    this.#check.checkEnd(turnId)
    this.hasEnded = true
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
    if (isTakeoverStep(id)) return undefined as T
    this.#check.checkNew(id)
    this.#firstNew ??= id
    this.hasEnded = true
    this.#stopAtEnd()
    const { signal } = this.#stopped
    return new Promise((_, reject) => {
      const stop = () => reject(new AbortError('rehearsal'))
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop)
    })
  }
  /** Returns why not all recorded calls were checked; undefined if all were. */
  gap(): string | undefined {
    if (!this.#hasUnrequested()) return undefined
    return `The code requests the new step "${this.#firstNew}" before recorded ones. Make it depend on patched(), so that this run skips it.`
  }
  stop(): void {
    this.#stopped.abort()
    this.onStop()
  }
  /** Parallel calls may be requested after the first step that is not recorded. */
  #stopAtEnd(): void {
    if (this.hasEnded && !this.#hasUnrequested()) this.stop()
  }
  #hasUnrequested(): boolean {
    try {
      this.#check.checkEnd(this.#turnId)
      return false
    } catch {
      return true
    }
  }
}
