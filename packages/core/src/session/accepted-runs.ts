import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { boundFault } from '../errors/known-options.ts'
import { silence } from '../errors/thenable.ts'
import { type Partial, type RunResult, withPartial } from '../turn/run-result.ts'
import { endTurn, notStored } from '../turn/run-turn.ts'
import type { Turn } from '../turn/turn.ts'
import { AbortableWaits } from './abortable-waits.ts'
import { AgentRun } from './agent-run.ts'
import { type Beginning, outputOfStored, runTurn, runWrapped, startsAtOnce } from './begin-run.ts'
import { LiveRun, reportUnhandled, type Settled } from './live-run.ts'
import type { Opening } from './opening.ts'
import { checkRunOptions, type RunOptions, type Task } from './options.ts'
import { fingerprintOf } from './run-keys.ts'
import type { SessionScope } from './scope/session-scope.ts'
import type { SessionHost } from './session-host.ts'
import { endAsStored } from './stored-run.ts'

/** The runs that a session has accepted. They run one at a time, in order. */
export class AcceptedRuns {
  readonly #host: SessionHost
  readonly #scope: SessionScope
  readonly #opening: Opening
  readonly #onBusy: 'reject' | 'queue'
  /** The accepted runs that have not settled, in order. The first one runs, and the others wait. */
  #runs: readonly LiveRun[] = []
  #deferred: Promise<void> | undefined
  #isClosed = false

  constructor(host: SessionHost, scope: SessionScope, opening: Opening, onBusy: 'reject' | 'queue') {
    this.#host = host
    this.#scope = scope
    this.#opening = opening
    this.#onBusy = onBusy
  }

  /** Accepts a run, or refuses it: then the run rejects. A repeated request gets the run of its key. */
  start(task: Task<unknown>): AgentRun {
    const options = task.options ?? {}
    const { readerTimeout = this.#scope.agent.setup.readerTimeout } = options
    const key = keyWithin(options)
    const fingerprint = key === undefined ? '' : fingerprintOf(task)
    const known = key === undefined ? undefined : this.#host.keys.find(this.#scope, key)
    if (known?.fingerprint === fingerprint) return known.run
    const run = new LiveRun(this.#scope.agent.setup.clock, readerTimeout)
    const started = new AgentRun(run)
    const waits = this.#runs.length > 0
    const refusal =
      (known && this.#reused(key)) ??
      this.#refusal(waits) ??
      optionFault(options, task.decisions !== undefined) ??
      boundFault('readerTimeout', readerTimeout, 'run.options')
    if (refusal !== undefined) {
      this.#withNothing(refusal, run)
      run.result = Promise.reject(refusal)
      run.settle({ error: refusal })
      reportUnhandled(run, refusal, this.#scope)
      return started
    }
    this.#accept(run)
    this.#host.started(run)
    run.key = key
    if (key !== undefined) this.#host.keys.remember(this.#scope, key, { run: started, fingerprint })
    run.result = this.#launch({ run, task, scope: this.#scope, host: this.#host }, waits)
    options.waitUntil?.(run.result.catch(() => {}))
    return started
  }

  /** Changes the session in place of a run. Only close() waits for it. */
  async change(work: (run: LiveRun, waits: AbortableWaits) => Promise<void>): Promise<void> {
    const run = new LiveRun(this.#scope.agent.setup.clock, false)
    this.#accept(run)
    const waits = this.#waitsOf(run)
    const changed = this.#opening.open(waits.cancel).then(() => work(run, waits))
    run.result = changed as Promise<never>
    try {
      await changed
    } finally {
      run.settled = true
      this.#leave(run)
      this.startIdleTimer()
    }
  }

  /** Aborts the current run. */
  abort(reason: unknown): void {
    this.#runs[0]?.abort(reason)
  }

  /** Accepts no more runs, and waits for those that were accepted, and their deferred work. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let run = this.#runs[0]; run !== undefined; run = this.#runs[0]) await run.result?.catch(() => {})
    await this.#deferred
  }

  /** @throws AlliumError `session.closed` */
  checkOpen(): void {
    if (this.#isClosed) throw this.#closed()
  }
  /** @throws AlliumError `session.busy` */
  checkIdle(fix: string): void {
    if (this.#runs.length > 0) throw this.#isBusy(fix)
  }

  #refusal(waits: boolean): Error | undefined {
    if (this.#isClosed) return this.#closed()
    if (!waits || this.#onBusy === 'queue') return this.#host.refusal()
    return this.#isBusy("Await it, or make the session with { onBusy: 'queue' }.")
  }

  #reused(key: string | undefined): AlliumError {
    const { id } = this.#scope
    const what = `The key "${key}" belongs to another input of the session "${id}". Use a unique key for each input.`
    return this.#error('run.key_reused', what)
  }
  #closed(): AlliumError {
    const what = `The session "${this.#scope.id}" is closed. Open a new one with agent.session({ id }).`
    return this.#error('session.closed', what)
  }
  #isBusy(fix: string): AlliumError {
    return this.#error('session.busy', `The session "${this.#scope.id}" is already running a turn. ${fix}`)
  }
  #error(code: ErrorCode, what: string): AlliumError {
    return new AlliumError(code, what, { details: { sessionId: this.#scope.id } })
  }

  /** Adds the run to the end of the session's queue. */
  #accept(run: LiveRun): void {
    this.#runs = [...this.#runs, run]
    this.#opening.wake()
  }

  #waitsOf(run: LiveRun): AbortableWaits {
    run.waits = new AbortableWaits((error) => this.#scope.report(error, 'turn:start'))
    return run.waits
  }

  /** Removes a settled run and starts the next one. */
  #leave(run: LiveRun): void {
    const isFirst = this.#runs[0] === run
    this.#runs = this.#runs.filter((other) => other !== run)
    if (isFirst) this.#runs[0]?.front?.()
  }

  /** Starts the turn in the same tick if there is nothing to wait for. */
  #launch(begin: Beginning, waits: boolean): Promise<RunResult> {
    const { run, task } = begin
    try {
      run.follow(task.options.signal)
      if (!waits && this.#opening.openAtOnce() && startsAtOnce(begin))
        return runTurn(begin, {}).then(() => this.#end(run))
    } catch (error) {
      return this.#failed(run, error)
    }
    return this.#launchLater(begin)
  }

  async #launchLater(begin: Beginning): Promise<RunResult> {
    const { run } = begin
    const waits = this.#waitsOf(run)
    const opening = this.#opening.open(waits.cancel)
    silence(opening)
    let rollback: (() => void) | undefined
    try {
      if (this.#runs[0] !== run) await waits.until(new Promise<void>((resolve) => (run.front = resolve)))
      await opening
      run.follow(undefined)
      const stored = await runWrapped(begin, waits)
      if (stored !== undefined) {
        const show = await waits.until(this.#host.displayFor(this.#scope.key))
        const output = await outputOfStored(begin, stored)
        const result = endAsStored(run.events, this.#scope, stored, { text: show(stored.answer ?? ''), output })
        this.#settle(run, { result })
        return result
      }
    } catch (error) {
      if (run.turn === undefined) return this.#failed(run, error)
      rollback = notStored(run.turn, error)
    }
    return this.#end(run, rollback)
  }

  #end(run: LiveRun, rollback?: () => void): RunResult | Promise<RunResult> {
    return endTurn(run.turn as Turn, (end) => this.#settle(run, end), rollback)
  }

  /** Adds the partial state of a run whose turn has not started. */
  #withNothing(error: unknown, { partial }: LiveRun): void {
    withPartial(error, { ...partial, sessionId: this.#scope.id })
  }

  #failed(run: LiveRun, error: unknown): Promise<never> {
    if (partialTurn(error) === undefined) this.#withNothing(error, run)
    this.#settle(run, { error })
    return Promise.reject(error)
  }

  /** Settles a run and frees the session for the next one. The session closes only after the deferred work has ended too. */
  #settle(run: LiveRun, end: Settled): void {
    const { key } = run
    const deferred = run.turn?.startedFinalizers?.deferred
    run.settle(end)
    // A stored session knows its keys itself, in every process, until it is deleted.
    const isRemembered = this.#host.storageLayer === undefined && (!('error' in end) || run.begun)
    if (key !== undefined) this.#host.keys.settle(this.#scope, key, isRemembered)
    if ('error' in end) reportUnhandled(run, end.error, this.#scope)
    this.#leave(run)
    if (deferred === undefined) return this.#ended(run)
    const ended = Promise.all([this.#deferred, ...deferred]).then(() => {
      if (this.#deferred === ended) this.#deferred = undefined
      this.#ended(run)
    })
    this.#deferred = ended
  }

  #ended(run: LiveRun): void {
    this.#host.settled(run)
    this.startIdleTimer()
  }

  /** Starts the idle timer, unless there are runs or deferred work. */
  startIdleTimer(): void {
    if (this.#runs.length === 0 && this.#deferred === undefined) this.#opening.startIdleTimer()
  }
}

/**
 * Returns the key to look up a run in this process. A run with a journal is restarted by its host, so an earlier run of
 * this process is lost.
 */
function keyWithin({ idempotencyKey, journal }: Pick<RunOptions, 'idempotencyKey' | 'journal'>): string | undefined {
  return journal === undefined ? idempotencyKey : undefined
}

function optionFault(options: object, resumes: boolean): AlliumError | undefined {
  try {
    checkRunOptions(options, resumes)
    return undefined
  } catch (error) {
    return error as AlliumError
  }
}

/** Returns the turn id from an error, if the error is that of an earlier run with the same key. */
function partialTurn(error: unknown): string | undefined {
  return (error as { partial?: Partial } | undefined)?.partial?.turnId
}
