import {
  type AgentRun,
  type AlliumError,
  isAlliumError,
  isBlockError,
  messageOf,
  type OutputOption,
  type Session,
} from '@allium/core'
import { entryOf } from '@allium/event-log'
import { untrustedSchema } from '@allium/json-schema'
import type { ClaimedRun, DurableRun, RecordedStep, RunSignal } from '@allium/store'
import { shapeDifferences } from './code-shape.ts'
import { ofRun } from './durable-event.ts'
import { withoutPositions } from './former-steps.ts'
import type { Host } from './host.ts'
import { ReplayFilter } from './log/replay-filter.ts'
import { type JournalHost, runJournal } from './run-journal.ts'
import { exposedError, isEnd, RunReporter } from './run-reporter.ts'
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
  #agentRun: AgentRun<unknown, unknown> | undefined
  /** Why no further step starts; undefined while steps may start. */
  #stopReason: string | undefined
  /** Another process has the run, or will claim it. No further step starts here. */
  #lost = false
  /** Not even the end of the turn may be stored. */
  #fenced = false
  /** The lease certainly holds until then, by the monotonic clock of this process. */
  #leaseExpiresAt: number

  /**
   * @param options.isNew the run was requested just now; otherwise its owner is looked up
   * @param options.previous the same run under an earlier, lost lease of this process; the new one waits until it is done
   */
  constructor(host: Host, claimed: ClaimedRun, { isNew, previous }: { isNew: boolean; previous: LiveRun | undefined }) {
    const { run } = claimed
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
  async insist(record: () => Promise<void>): Promise<void> {
    const { clock, lease } = this.#host
    const until = clock.monotonic() + lease
    // After the end no step needs a record: the store has the turn, so nothing replays it.
    while (!this.#reporter.hasEnd)
      try {
        return await record()
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
    if (current === undefined || isActive(current)) this.loseLease('another process has taken the run')
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

  async #execute(previous: Promise<void> | undefined): Promise<void> {
    await previous
    const { run, lease } = this.claimed
    const { sessions } = this.#host
    if (run.status !== 'running') {
      await this.#reporter.reportMissed(await sessions.find(run.key, { turnId: run.run }))
      return sessions.release(lease)
    }
    if (!this.#host.versions.includes(run.version))
      return this.#giveUp(
        exposedError(
          'run.version',
          `No process of the version "${run.version}" of "${run.agent}" came back for the run.`,
        ),
      )
    if (run.attempts > this.#host.attempts)
      return this.#giveUp(exposedError('run.attempts', tooManyAttempts(run.attempts - 1)))
    const owner = await this.#principal()
    if (owner === undefined)
      return this.#giveUp(exposedError('run.principal', 'The principal of the run is not there any more.'))
    const steps = await this.#recordedSteps()
    if (steps === undefined) return
    const differences = await this.#codeDifferences(steps)
    if (differences.length > 0)
      return this.#giveUp(exposedError('journal.diverged', otherCode(run, differences), { differs: differences }))
    if (run.stop !== undefined && steps.length === 0 && this.#task.decisions === undefined)
      return this.#giveUp(exposedError('run.failed', run.stop), 'aborted')
    await this.#run(owner.principal, steps)
  }

  /** Returns undefined, and gives the run up, if one of them cannot be read: starting it again would not help. */
  async #recordedSteps(): Promise<RecordedStep[] | undefined> {
    const { run, lease } = this.claimed
    try {
      const steps = await this.#host.runs.steps(lease, run.run)
      return this.#task.code === undefined ? withoutPositions(steps) : steps
    } catch (error) {
      if (!isAlliumError(error, 'store.corrupt') && !isAlliumError(error, 'store.sealed')) throw error
      await this.#giveUp(exposedError('journal.corrupt', `A recorded step cannot be read. ${error.message}`))
      return undefined
    }
  }

  /** Compares the code with the one that recorded the steps. A run that has recorded only its start fits any code. */
  async #codeDifferences(steps: readonly RecordedStep[]): Promise<string[]> {
    const { code } = this.#task
    const { run } = this.claimed.run
    const hasSteps = steps.some(({ id }) => id !== `${run}:start`)
    return code === undefined || !hasSteps ? [] : shapeDifferences(code, await this.#host.shape())
  }

  async #run(principal: unknown, steps: readonly RecordedStep[]): Promise<void> {
    const { agent, events, runs, report } = this.#host
    const { run, lease } = this.claimed
    const journal = runJournal(runs, { run: run.run, lease }, steps, this)
    const entries = await this.#reporter.readKnown()
    // A run that is retried has an end in its log.
    const isLost = steps.length > 0 && entries.length > 0 && !entries.some(isEnd)
    report({ type: 'claim', ...ofRun(run), attempt: run.attempts, takeover: run.attempts > 1 || isLost })
    const replayFilter = new ReplayFilter(entries)
    await this.#reporter.open()
    const session = agent.session({ id: run.key.sessionId, principal: principal as never })
    try {
      const agentRun = this.#startTurn(session, journal)
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

  #startTurn(session: Session<unknown, unknown>, journal: ReturnType<typeof runJournal>): AgentRun<unknown, unknown> {
    const { input, decisions, approver, context, output, clientTools, idempotencyKey, onRetryAfterOutput } = this.#task
    const options = {
      turnId: this.claimed.run.run,
      journal,
      idempotencyKey,
      clientTools,
      onRetryAfterOutput,
      readerTimeout: false as const,
      ...(context !== undefined && { context }),
      ...(output !== undefined && { output: untrustedSchema(output) as OutputOption }),
    }
    if (decisions === undefined) return session.run(input ?? '', options) as AgentRun<unknown, unknown>
    const resumeOptions = approver === undefined ? options : { ...options, approver: approver as never }
    return session.resume(decisions, resumeOptions) as AgentRun<unknown, unknown>
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
    if (current.status !== 'running') return this.#reporter.reportEnd(error)
    if (error === undefined)
      return this.#giveUp(
        exposedError(
          'run.options',
          `The agent "${run.agent}" does not keep its sessions in the store of durable(): use memory.persist({ store: store.sessions }), or new Agent({ store }).`,
        ),
      )
    // The store rejected the turn or was unreachable: retry from the recorded steps. Retrying does not help when the store is full.
    if (isAlliumError(error) && error.code.startsWith('store.') && error.code !== 'store.full') return this.#release()
    // It was stopped before its turn began, so there is no turn to store.
    if (this.#stopReason !== undefined && (error as { name?: unknown }).name === 'AbortError')
      return this.#giveUp(exposedError('run.failed', this.#stopReason), 'aborted')
    await this.#giveUp(error as AlliumError)
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
      return this.#agentRun?.abort(this.#stopReason)
    }
    if (this.#agentRun !== undefined) await this.#reporter.inbox.hear(this.#agentRun, signal)
  }

  /** Returns undefined if the owner is not there any more, or is another one. */
  async #principal(): Promise<{ principal: unknown } | undefined> {
    const { resolvePrincipal } = this.#host.options
    const { key } = this.claimed.run
    if (resolvePrincipal === undefined || this.#isNew) return this.#owned(this.#task.principal)
    try {
      const principal = (await resolvePrincipal(key)) ?? undefined
      return principal === undefined ? undefined : this.#owned(principal)
    } catch (error) {
      if (isAlliumError(error, 'store.unavailable')) throw error
      return undefined
    }
  }

  #owned(principal: unknown): { principal: unknown } | undefined {
    const { key } = this.claimed.run
    const { tenant, owner } = this.#host.agent.session({ principal: principal as never }).key
    return tenant === key.tenant && owner === key.owner ? { principal } : undefined
  }

  #release(): Promise<void> {
    return this.#host.sessions.release(this.claimed.lease).catch(() => {})
  }

  /** Handles unexpected errors, such as an unreachable store. This process or another one claims the run again. */
  async #handleFault(error: unknown): Promise<void> {
    const { run } = this.claimed
    this.#agentRun?.abort(messageOf(error))
    if (!isAlliumError(error, 'store.fenced'))
      this.#host.logger.warn(`The durable run "${run.run}" could not go on here: ${messageOf(error)}`, { error })
    const isFull = isAlliumError(error, 'store.full')
    if (isFull || (isAlliumError(error) && !error.code.startsWith('store.') && !isBlockError(error)))
      await this.#giveUp(error).catch(() => {})
    await this.#release()
    // The log has no room either.
    if (isFull) this.#host.reportUnloggedEnd(run.run, error)
  }
}

function isActive({ status }: DurableRun): boolean {
  return status === 'queued' || status === 'running'
}

function otherCode({ run, version }: DurableRun, differences: readonly string[]): string {
  const began = version === '' ? '' : ` (version "${version}")`
  return `The run "${run}" was recorded by other code${began}: ${differences.join('; ')}. No step was executed. Continue it with the code that began it, then retry it.`
}

function tooManyAttempts(times: number): string {
  return `It was begun ${times} times, and each time its process was lost before another step was recorded.`
}
