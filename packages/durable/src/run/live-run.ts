import { type AgentRun, type Input, isAlliumError, isBlockError, messageOf } from '@allium/core'
import type { ClaimedRun, DurableRun, RunSignal } from '@allium/store'
import { type Entry, entryOf } from '@allium/store/event-log'
import type { RunCheck } from '@allium/store/journal'
import { ofRun } from '../host/durable-event.ts'
import type { Host } from '../host/host.ts'
import { controls, type RunControl } from '../journal/run-control.ts'
import { checkOf, RunJournal } from '../journal/run-journal.ts'
import { RunState, type RunStateEvents } from '../journal/run-state.ts'
import { ReplayFilter } from '../log/replay-filter.ts'
import { type AdmittedRun, admit } from './run-admission.ts'
import { exposedError, isAbort, isFinal, publicError } from './run-errors.ts'
import { isEnd, type RunReporter } from './run-reporter.ts'
import { startTurn } from './start-turn.ts'
import { storedTask, type Task } from './task.ts'

/** The key of a journal's function that starts the turn after a handoff. A group of agents calls it before the turn is stored. */
const continues = Symbol.for('allium:continues')

/** One run that this process executes under its lease. */
export class LiveRun implements RunStateEvents, RunControl {
  isIdle: (() => boolean) | undefined
  readonly state: RunState
  /** Resolves when the run is over in this process: ended, given up or lost. */
  readonly done: Promise<void>
  /** Whether another run waits for its end. */
  isFollowed = false
  readonly #host: Host
  readonly #began: number | undefined
  readonly #task: Task
  readonly #reporter: RunReporter
  #agentRun: AgentRun<unknown, unknown> | undefined
  #check: RunCheck | undefined

  /**
   * @param options.began the time in the first step of a run that was requested just now; the owner of any other one is looked up
   * @param options.previous the same run under an earlier, lost lease of this process; the new one waits until it is done
   */
  constructor(
    host: Host,
    claimed: ClaimedRun,
    { began, previous, reporter }: { began: number | undefined; previous: LiveRun | undefined; reporter: RunReporter },
  ) {
    this.#began = began
    this.#host = host
    this.#task = storedTask(claimed.run.task)
    this.state = new RunState(host, claimed, this)
    this.#reporter = reporter
    this.done = this.#execute(previous?.done).catch((error) => this.#handleFault(error))
  }

  onStop(): void {
    this.#agentRun?.abort(this.state.stopReason)
  }
  onDiverged(error: unknown): Promise<void> {
    return this.#giveUp(error)
  }

  /** Another process continues the run from its next step. */
  handOver(reason: string): void {
    this.state.handOver(reason)
    if (this.#agentRun === undefined) void this.state.release()
    else this.onIdle()
  }
  onIdle(): void {
    if (this.isIdle?.() === true) this.state.check()
  }

  async #execute(previous: Promise<void> | undefined): Promise<void> {
    await previous
    const { run } = this.state.claimed
    if (run.status !== 'running') {
      await this.#reporter.reportMissed()
      return this.state.release()
    }
    const admission = await admit(this.#host, this.state.claimed, {
      task: this.#task,
      isNew: this.#began !== undefined,
    })
    if ('refusal' in admission) return this.#giveUp(admission.refusal, admission.isStopped ? 'aborted' : 'failed')
    await this.#run(admission)
  }

  async #run({ principal, steps, shapes, drift }: AdmittedRun): Promise<void> {
    const { agent, version, events, report } = this.#host
    const { run } = this.state.claimed
    const check = checkOf(steps, this.#host, shapes)
    this.#check = check
    const journal = new RunJournal(this.#host, this.state, { steps, check, began: this.#began })
    const { continueRun } = this.#host
    const goOn = async (input: Input) => {
      await continueRun(run, this.#task, input)
      this.isFollowed = true
    }
    Object.assign(journal, { [continues]: goOn })
    // The log of a new run is empty: the worker has just opened it.
    const entries = this.#began !== undefined ? [] : await this.#reporter.readKnown()
    // A run that is retried has an end in its log.
    const isLost = steps.length > 0 && entries.length > 0 && !entries.some(isEnd)
    report({ type: 'claim', ...ofRun(run), attempt: run.attempts, takeover: run.attempts > 1 || isLost })
    const replayFilter = new ReplayFilter(entries)
    if (drift.length > 0) for (const entry of replayFilter.filter(driftOf(run, drift))) this.#reporter.push(entry)
    const session = agent.session({ id: run.key.sessionId, principal: principal as never })
    controls.set(run.run, this)
    try {
      const { agentRun } = await startTurn(session, { run, task: this.#task, journal, version })
      this.#agentRun = agentRun
      if (this.state.isLost) this.onStop()
      // Immediately, because a run without a reader drains itself.
      const followed = this.#follow(agentRun, replayFilter)
      const unsubscribe = await events.onSignal(this.#reporter.key, (signal) => this.#handleSignal(signal))
      const error = await followed
      unsubscribe()
      await this.#finish(error)
    } finally {
      controls.delete(run.run)
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
        if (this.state.stopReason === undefined) this.#check?.see(event)
        const entry = entryOf(event, context)
        // Reported after the store has the turn.
        if (isEnd(entry)) this.#holdEnd(entry)
        else for (const fresh of replayFilter.filter(entry)) this.#reporter.push(fresh)
      }
      return undefined
    } catch (error) {
      return error
    } finally {
      await agentRun.settled()
    }
  }

  #holdEnd(entry: Entry): void {
    this.state.hasEnded = true
    this.#reporter.holdEnd(entry)
  }

  /** Called after the run ended here. The store has the final status. */
  async #finish(error: unknown): Promise<void> {
    const { runs, found } = this.#host
    const { run } = this.state.claimed
    const { key } = run
    // Without an error, the turn is where the others are.
    if (error === undefined && found.turn && !this.state.isLost) return this.#reporter.reportEnd()
    const current = await runs.get({ tenant: key.tenant, run: run.run })
    if (current === undefined || this.state.isLost) return this.state.release()
    if (current.status === 'failed') this.#logFailure(error)
    if (current.status !== 'running') {
      found.turn = true
      return this.#reporter.reportEnd(error)
    }
    if (error === undefined)
      return this.#giveUp(
        exposedError(
          'run.options',
          `The agent "${run.agent}" stores its sessions elsewhere. Use memory.persist({ store: store.sessions }).`,
        ),
      )
    // Stopped before its turn began.
    if (isAbort(error)) return this.#giveUp(exposedError('run.failed', messageOf(error)), 'aborted')
    // The store rejected the turn or was unreachable: retry from the recorded steps, unless that cannot help.
    if (isAlliumError(error) && error.code.startsWith('store.') && !isFinal(error)) return this.state.release()
    await this.#giveUp(error)
  }

  /** Logs why the run failed. The message of an error may have content, so it is not logged. */
  #logFailure(error: unknown): void {
    const { run } = this.state.claimed.run
    const { code } = publicError(error)
    const { name = typeof error, stack, status } = (error ?? {}) as Partial<Error & { status: number }>
    const at = /^\s*at (.*)$/m.exec(stack ?? '')?.[1]
    this.#host.logger.error(`The durable run "${run}" failed.`, { run, code, cause: name, status, at })
  }

  /** Fails or aborts the run and keeps its steps. */
  async #giveUp(error: unknown, status: 'failed' | 'aborted' = 'failed'): Promise<void> {
    if (this.state.isLost) return
    const { run, lease } = this.state.claimed
    const { code, message } = publicError(error)
    await this.#host.runs.giveUp(lease, run.run, { code, reason: message, status })
    this.state.giveUp(message)
    await this.#reporter.open()
    this.onStop()
    this.state.hasEnded = true
    await this.#reporter.reportEndAs(status, status === 'failed' ? exposedError(code, message) : undefined)
    if (status === 'failed') this.#host.logger.error(`The durable run "${run.run}" was given up: ${message}`, { error })
  }

  async #handleSignal(signal: RunSignal): Promise<void> {
    if (signal.stop === true) {
      this.state.stop('stopped')
      // The history gets the recorded steps first. The next step that is not recorded ends the run.
      return this.#check?.missing() === undefined ? this.onStop() : undefined
    }
    if (this.#agentRun !== undefined) await this.#reporter.inbox.deliver(this.#agentRun, signal)
  }

  /** Handles unexpected errors, such as an unreachable store. This process or another one claims the run again. */
  async #handleFault(error: unknown): Promise<void> {
    const { run } = this.state.claimed
    this.#agentRun?.abort(messageOf(error))
    if (!isAlliumError(error, 'store.fenced'))
      this.#host.logger.warn(`The durable run "${run.run}" stopped here: ${messageOf(error)}`, {
        error,
      })
    const isFull = isAlliumError(error, 'store.full')
    if (isFinal(error) || (isAlliumError(error) && !error.code.startsWith('store.') && !isBlockError(error)))
      await this.#giveUp(error).catch(() => {})
    await this.state.release()
    // The log has no room either.
    if (isFull) this.#host.unloggedEnds.end(run.run, error)
  }
}

function driftOf({ run, key }: DurableRun, differs: readonly string[]): Entry {
  const at = { sessionId: key.sessionId, turnId: run, stepIndex: 0 }
  return { event: { type: 'journal:drift', ...at, step: `${run}:start`, differs } }
}
