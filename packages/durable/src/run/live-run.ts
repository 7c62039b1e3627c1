import { type AgentRun, type AlliumError, isAlliumError, isBlockError, messageOf } from '@allium/core'
import type { ClaimedRun, DurableRun, RunSignal } from '@allium/store'
import { type Entry, entryOf } from '@allium/store/event-log'
import type { RunCheck } from '@allium/store/journal'
import { ofRun } from '../host/durable-event.ts'
import type { Host } from '../host/host.ts'
import { allowPatches } from '../journal/patched.ts'
import { checkOf, type JournalHost, runJournal } from '../journal/run-journal.ts'
import { ReplayFilter } from '../log/replay-filter.ts'
import { type AdmittedRun, admit } from './run-admission.ts'
import { exposedError, isAbort, isFinal, isUnreadable } from './run-errors.ts'
import { isEnd, RunReporter } from './run-reporter.ts'
import { startTurn } from './start-turn.ts'
import { storedTask, type Task } from './task.ts'

/** One run that this process executes under its lease. */
export class LiveRun implements JournalHost {
  readonly claimed: ClaimedRun
  /** Resolves when the run is over in this process: ended, given up or lost. */
  readonly done: Promise<void>
  readonly #host: Host
  readonly #isNew: boolean
  readonly #task: Task
  readonly #reporter: RunReporter
  readonly #onStep: () => void
  #agentRun: AgentRun<unknown, unknown> | undefined
  #check: RunCheck | undefined
  /** Why no further step starts; undefined while steps may start. */
  #stopReason: string | undefined
  /** Another process has the run, or will claim it. No further step starts here. */
  #lost = false
  #isAbandoned = false
  /** Not even the end of the turn may be stored. */
  #fenced = false
  /** The lease certainly holds until then, by the monotonic clock of this process. */
  #leaseExpiresAt: number

  /**
   * @param options.isNew the run was requested just now; otherwise its owner is looked up
   * @param options.previous the same run under an earlier, lost lease of this process; the new one waits until it is done
   * @param options.onStep called after each recorded step
   */
  constructor(
    host: Host,
    claimed: ClaimedRun,
    { isNew, previous, onStep }: { isNew: boolean; previous: LiveRun | undefined; onStep(): void },
  ) {
    const { run } = claimed
    this.#onStep = onStep
    this.#isNew = isNew
    this.claimed = claimed
    this.#host = host
    this.#task = storedTask(run.task)
    this.#stopReason = run.stop
    this.#leaseExpiresAt = host.clock.monotonic() + host.lease
    this.#reporter = new RunReporter(host, claimed)
    this.done = this.#execute(previous?.done).catch((error) => this.#handleFault(error))
  }

  // Called by the journal

  over(): string | undefined {
    this.checkLease()
    if (this.#lost) this.ended()
    return this.#stopReason
  }
  fenced(): boolean {
    return this.#fenced
  }
  ended(): void {
    this.#fenced ||= this.#lost
    if (this.#lost) void this.#release()
    this.#agentRun?.abort(this.#stopReason)
  }
  async broken(error: unknown): Promise<void> {
    await this.#giveUp(error as AlliumError)
  }
  failed(error: unknown): void {
    if (isAlliumError(error, 'store.fenced') || isAlliumError(error, 'store.unavailable'))
      this.loseLease(messageOf(error))
  }
  async insist(record: () => Promise<void>, isTakeover: boolean): Promise<void> {
    const { clock, lease } = this.#host
    const until = clock.monotonic() + lease
    // After the end no step needs a record: the store has the turn, so nothing replays it.
    while (!this.#reporter.hasEnd)
      try {
        await record()
        return isTakeover ? undefined : this.#onStep()
      } catch (error) {
        if (this.#reporter.hasEnd) return
        if (!isAlliumError(error, 'store.unavailable') || this.#lost || clock.monotonic() >= until) throw error
        await new Promise<void>((resolve) => clock.after(Math.min(200, lease / 10), resolve))
      }
  }

  // Called by the worker

  renewed(until: number): void {
    this.#leaseExpiresAt = until
  }
  /** The store has another lease, or none: the turn of a run that has ended releases it, and its end is still to be reported here. */
  async notRenewed(): Promise<void> {
    const { key, run } = this.claimed.run
    const current = await this.#host.runs.get({ tenant: key.tenant, run })
    if (current === undefined || isActive(current)) this.loseLease('another process has taken over the run')
  }
  /** If the store did not answer in time, or the process was suspended, another process may have claimed the run. */
  checkLease(): void {
    if (this.#leaseExpiresAt <= this.#host.clock.monotonic())
      this.loseLease('the lease of the run could not be renewed in time')
  }

  /** The lease is gone. The store rejects later writes. */
  loseLease(reason: string): void {
    if (this.#fenced) return
    this.#lost = true
    this.#fenced = true
    this.#stopReason ??= reason
    this.#agentRun?.abort(reason)
  }
  /** Another process continues the run from its next step. */
  handOver(reason: string): void {
    this.#lost = true
    this.#stopReason ??= reason
    if (this.#agentRun === undefined) void this.#release()
  }
  /** Another process repeats the step in progress. This attempt does not count, because a deploy is no crash. */
  abandon(reason: string): void {
    this.#isAbandoned = true
    this.loseLease(reason)
  }

  async #execute(previous: Promise<void> | undefined): Promise<void> {
    await previous
    const { run } = this.claimed
    if (run.status !== 'running') {
      await this.#reporter.reportMissed(...(await this.#storedTurn()))
      return this.#release()
    }
    const admission = await admit(this.#host, this.claimed, { task: this.#task, isNew: this.#isNew })
    if ('refusal' in admission) return this.#giveUp(admission.refusal, admission.isStopped ? 'aborted' : 'failed')
    await this.#run(admission)
  }

  /** Returns the turn of a run that has ended. If it can never be read, the end of the run is reported without it. */
  async #storedTurn(): Promise<Parameters<RunReporter['reportMissed']>> {
    const { key, run } = this.claimed.run
    try {
      const turn = await this.#host.sessions.find(key, { turnId: run })
      return [turn, { isGivenUp: turn === undefined }]
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return [undefined, { isGivenUp: false }]
    }
  }

  async #run({ principal, steps, drift }: AdmittedRun): Promise<void> {
    const { agent, events, runs, report } = this.#host
    const { run, lease } = this.claimed
    const check = await checkOf(steps, this.#host, this.#task.code)
    this.#check = check
    const journal = runJournal(runs, { run: run.run, lease, check }, steps, this)
    // The log of a new run is empty: the worker has just opened it.
    const entries = this.#isNew ? [] : await this.#reporter.readKnown()
    // A run that is retried has an end in its log.
    const isLost = steps.length > 0 && entries.length > 0 && !entries.some(isEnd)
    report({ type: 'claim', ...ofRun(run), attempt: run.attempts, takeover: run.attempts > 1 || isLost })
    const replayFilter = new ReplayFilter(entries)
    if (drift.length > 0) for (const entry of replayFilter.filter(driftOf(run, drift))) this.#reporter.push(entry)
    const session = agent.session({ id: run.key.sessionId, principal: principal as never })
    const isNewCode = (this.#task.version ?? run.version) === this.#host.version
    allowPatches(journal, { turnId: run.run, isNewCode })
    try {
      const { agentRun } = await startTurn(session, { turnId: run.run, task: this.#task, journal })
      this.#agentRun = agentRun
      if (this.#lost) agentRun.abort(this.#stopReason)
      // Immediately, because a run without a reader drains itself.
      const followed = this.#follow(agentRun, replayFilter)
      const unsubscribe = await events.onSignal(this.#reporter.key, (signal) => this.#handleSignal(signal))
      const error = await followed
      unsubscribe()
      await this.#finish(error)
    } finally {
      await session.close()
    }
  }

  /** Writes the run's events to the log. Returns the error that the run failed with. */
  async #follow(agentRun: AgentRun<unknown, unknown>, replayFilter: ReplayFilter): Promise<unknown> {
    const { clientTools, decisions } = this.#task
    const context = {
      clientTools: clientTools && new Set(clientTools.map(({ name }) => name)),
      decided: decisions && Object.keys(decisions),
    }
    try {
      for await (const event of agentRun) {
        // A stop cancels the calls that still run.
        if (this.#stopReason === undefined) this.#check?.see(event)
        const entry = entryOf(event, context)
        // Reported after the store has the turn.
        if (event.type === 'turn:end' && !('path' in event)) this.#reporter.holdEnd(entry)
        else for (const fresh of replayFilter.filter(entry)) this.#reporter.push(fresh)
      }
      return undefined
    } catch (error) {
      return error
    } finally {
      await agentRun.settled()
    }
  }

  /** Called after the run ended here. The store has the final status. */
  async #finish(error: unknown): Promise<void> {
    const { runs } = this.#host
    const { run } = this.claimed
    const { key } = run
    const current = await runs.get({ tenant: key.tenant, run: run.run })
    if (current === undefined || this.#lost) return this.#release()
    if (current.status === 'failed') this.#logFailure(error)
    if (current.status !== 'running') return this.#reporter.reportEnd(error)
    if (error === undefined)
      return this.#giveUp(
        exposedError(
          'run.options',
          `The agent "${run.agent}" does not keep its sessions in the store of durable(): use memory.persist({ store: store.sessions }).`,
        ),
      )
    // Stopped before its turn began.
    if (isAbort(error)) return this.#giveUp(exposedError('run.failed', messageOf(error)), 'aborted')
    // The store rejected the turn or was unreachable: retry from the recorded steps, unless that cannot help.
    if (isAlliumError(error) && error.code.startsWith('store.') && !isFinal(error)) return this.#release()
    await this.#giveUp(error as AlliumError)
  }

  /** Logs why the run failed. The message of an error may have content, so it is not logged. */
  #logFailure(error: unknown): void {
    const { run } = this.claimed.run
    const { code } = this.#host.publicError(error)
    const { name = typeof error, stack, status } = (error ?? {}) as Partial<Error & { status: number }>
    const at = /^\s*at (.*)$/m.exec(stack ?? '')?.[1]
    this.#host.logger.error(`The durable run "${run}" failed.`, { run, code, cause: name, status, at })
  }

  /** Fails or aborts the run and keeps its steps. */
  async #giveUp(error: unknown, status: 'failed' | 'aborted' = 'failed'): Promise<void> {
    if (this.#lost) return
    const { run, lease } = this.claimed
    const { code, message } = this.#host.publicError(error)
    await this.#host.runs.giveUp(lease, run.run, { code, reason: message, status })
    this.#lost = true
    this.#stopReason = message
    await this.#reporter.open()
    this.#agentRun?.abort(message)
    await this.#reporter.reportEndAs(status, status === 'failed' ? exposedError(code, message) : undefined)
    if (status === 'failed') this.#host.logger.error(`The durable run "${run.run}" was given up: ${message}`, { error })
  }

  async #handleSignal(signal: RunSignal): Promise<void> {
    if (signal.stop === true) {
      this.#stopReason = 'stopped'
      // The history gets the recorded steps first. The next step that is not recorded ends the run.
      return this.#check?.missing() === undefined ? this.#agentRun?.abort(this.#stopReason) : undefined
    }
    if (this.#agentRun !== undefined) await this.#reporter.inbox.deliver(this.#agentRun, signal)
  }

  #release(): Promise<void> {
    const { sessions, runs } = this.#host
    const { lease, run } = this.claimed
    return (this.#isAbandoned ? runs.release(lease, run.run) : sessions.release(lease)).catch(() => {})
  }

  /** Handles unexpected errors, such as an unreachable store. This process or another one claims the run again. */
  async #handleFault(error: unknown): Promise<void> {
    const { run } = this.claimed
    this.#agentRun?.abort(messageOf(error))
    if (!isAlliumError(error, 'store.fenced'))
      this.#host.logger.warn(`The durable run "${run.run}" could not continue in this process: ${messageOf(error)}`, {
        error,
      })
    const isFull = isAlliumError(error, 'store.full')
    if (isFinal(error) || (isAlliumError(error) && !error.code.startsWith('store.') && !isBlockError(error)))
      await this.#giveUp(error).catch(() => {})
    await this.#release()
    // The log has no room either.
    if (isFull) this.#host.reportUnloggedEnd(run.run, error)
  }
}

function driftOf({ run, key }: DurableRun, differs: readonly string[]): Entry {
  const at = { sessionId: key.sessionId, turnId: run, stepIndex: 0 }
  return { event: { type: 'journal:drift', ...at, step: `${run}:start`, differs } }
}

function isActive({ status }: DurableRun): boolean {
  return status === 'queued' || status === 'running'
}
