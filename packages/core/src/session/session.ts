import { AlliumError } from '../errors/allium-error.ts'
import { boundFault } from '../errors/bound-fault.ts'
import { checkOptions } from '../errors/known-options.ts'
import { silence } from '../errors/thenable.ts'
import { notStored } from '../loop/not-stored.ts'
import { type Partial, withPartial } from '../loop/partial.ts'
import type { RunResult } from '../loop/run-result.ts'
import { endTurn, runLayers } from '../loop/run-turn.ts'
import { endedTurn } from '../loop/stored-turn.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import { toMessages } from '../messages/input.ts'
import type { Input } from '../messages/message.ts'
import type { OutputOf, OutputOption } from '../output/output.ts'
import { parseOutput } from '../output/parse-output.ts'
import { randomIds } from '../ports/ids.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { SessionKey, StoredTurn } from '../ports/session-store.ts'
import { SessionScope } from '../rings/session/session-scope.ts'
import { inheritedInputs } from '../rings/turn/inputs.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { Snapshot } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { Decision } from '../tool/approval.ts'
import type { CallTypes } from '../tool/typed-calls.ts'
import { AbortableWaits } from './abortable-waits.ts'
import { AgentRun } from './agent-run.ts'
import { approverOf, decidable } from './approvers.ts'
import { aroundRun } from './around-run.ts'
import { checkedDecisions } from './decisions.ts'
import { LiveRun, type Settled } from './live-run.ts'
import { Opening } from './opening.ts'
import {
  checkForkOptions,
  checkRewindOptions,
  checkRunOptions,
  type ForkSessionOptions,
  type ResumeOptions,
  type RunOptions,
} from './options.ts'
import { reportUnhandled } from './report-unhandled.ts'
import { rewind, snapshotAt } from './rewind.ts'
import { fingerprintOf } from './run-keys.ts'
import type { SessionHost } from './session-host.ts'
import { endAsStored } from './stored-run.ts'
import {
  delegated,
  isRestartable,
  outputOf,
  type Prepared,
  prepare,
  runDetails,
  storedAsOf,
  type Task,
  toolsOf,
  turnOf,
} from './task.ts'

const ofCheck = { approver: true } as const

/** One conversation with an agent: its history, its state, and one turn at a time. */
export class Session<S = State, C = RegisteredContext, K extends CallTypes = CallTypes> {
  readonly id: string
  readonly #scope: SessionScope
  readonly #host: SessionHost
  readonly #onBusy: 'reject' | 'queue'
  readonly #opening: Opening
  #closing: Promise<void> | undefined
  /** The accepted runs that have not settled, in order. The first one runs, and the others wait. */
  readonly #runs: LiveRun[] = []
  #deferred: Promise<void> | undefined

  /** Use `agent.session()` instead. */
  constructor(host: SessionHost, scope: SessionScope, onBusy: 'reject' | 'queue') {
    this.id = scope.id
    this.#host = host
    this.#onBusy = onBusy
    this.#scope = scope
    this.#opening = new Opening(host, scope, this)
  }

  /** The key of the session in stores and event logs. It is unique across agents, owners and tenants. */
  get key(): SessionKey {
    return { ...this.#scope.key }
  }
  /**
   * @throws AlliumError `session.not_open` if a stored session has not been opened. The same applies to state, pending,
   * snapshot() and fork().
   */
  get history(): ReadonlyHistory {
    return this.#known().history.view
  }
  get state(): S {
    return this.#known().state.view as S
  }
  /**
   * This agent's pending tool calls: the calls of the last answer without a result. With `approvals.canApprove`, they
   * are shown as the model made them and without tokens. Approvers get the tokens from `pendingFor()`.
   */
  get pending(): readonly K['pending'][] {
    return this.#known().pending
  }

  /**
   * Returns the pending calls that a principal may approve, with their tokens and true values. The agent's
   * `approvals.canApprove` decides. Without it, the owner of the session gets all calls. For principals of other tenants
   * the list is empty.
   */
  async pendingFor(principal: RegisteredPrincipal): Promise<K['pending'][]> {
    return decidable(this.#known(), this.#host.checkPrincipal(principal))
  }

  /**
   * Validates decisions like `resume()`, without using them. For servers that queue decisions for a later run.
   *
   * @returns the ids of the session's calls that they apply to; for calls of a sub-agent, the id of the outer call
   * @throws AlliumError `approval.*`
   */
  async checkDecisions(
    decisions: Readonly<Record<string, Decision>>,
    options: { approver?: RegisteredPrincipal } = {},
  ): Promise<string[]> {
    checkOptions(options, ofCheck, 'checkDecisions()', 'run.options')
    const { approver } = options
    const scope = this.#known()
    const by = approverOf(scope, approver === undefined ? undefined : this.#host.checkPrincipal(approver))
    const { tools } = toolsOf({ options: {}, decisions }, scope)
    return [...(await checkedDecisions(scope, decisions, by, tools)).callIds]
  }

  /** Starts a turn. Pending calls are closed as not approved. Never throws; the run rejects on failure. */
  run<O extends OutputOption | undefined = undefined>(
    input: Input,
    options: RunOptions<C, O> = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>, K> {
    return this.#start({ input, decisions: undefined, options }) as AgentRun<S, OutputOf<O>, K>
  }

  /**
   * Resumes a suspended turn, as a new run in which the decided calls run. Undecided calls stay pending.
   *
   * @param decisions by call id: `{ approve: true }`, `{ deny: 'why' }` or `{ args }`, with the call's `token` if the
   * agent signs
   * @param options.approver the approver, as verified by your server @default the principal of the session
   * @throws (the run) AlliumError `approval.*`; nothing has changed then
   */
  resume<O extends OutputOption | undefined = undefined>(
    decisions: Readonly<Record<string, Decision>>,
    options: ResumeOptions<C, O> = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>, K> {
    return this.#start({ input: [], decisions: decisions ?? null, options }) as AgentRun<S, OutputOf<O>, K>
  }

  /**
   * Returns a new session that starts from this one's state after a turn. Pending calls are closed in it as not
   * approved.
   *
   * @param options.at a turn that has ended. If another process ran it, the fork loads it from the store on `open()` or
   * its first run, which fails if the store does not have the turn. @default the current state
   * @throws AlliumError `session.unknown_turn`
   */
  fork(options: ForkSessionOptions = {}): Session<S, C, K> {
    checkForkOptions(options)
    const { at, id } = options
    const { agent, principal, context, metadata } = this.#known()
    const own = id === undefined ? agent.setup.ids() : this.#host.checkSessionId(id)
    const scope = new SessionScope(agent, own, principal, context, { ...metadata }, id === undefined)
    const fork = new Session<S, C, K>(this.#host, scope, this.#onBusy)
    const begin = (snapshot: Snapshot) => {
      scope.restore(snapshot)
      scope.history.closePending('Not approved.')
      fork.#opening.reached = true
    }
    if (at === undefined || this.#scope.knowsTurn(at) || this.#scope.registered.provideTurns === undefined)
      begin(this.#scope.snapshotAt(at))
    else fork.#opening.before = () => snapshotAt(this.#scope, at).then((snapshot) => () => begin(snapshot))
    return fork
  }

  /**
   * Restores the session to its state after a turn. Later messages, state and pending calls are removed, here and in
   * the store. Usage, records and used approvals stay.
   *
   * @param options.to a turn that has ended, in this process or in another one that stored it
   * @throws AlliumError `session.unknown_turn`, `session.busy` while a turn runs; nothing has changed then
   */
  async rewind(options: { to: string }): Promise<void> {
    checkRewindOptions(options)
    const { to } = options
    if (this.#closing !== undefined) throw this.#closed()
    if (this.#runs.length > 0) throw this.#isBusy('Await it before rewind().')
    const run = new LiveRun(this.#scope.agent.setup.clock, false)
    const waits = this.#accept(run)
    const rewound = this.#opening.open(waits.cancel).then(() => rewind(this.#scope, to, run, waits))
    // Only close() waits for it.
    run.result = rewound as Promise<never>
    try {
      await rewound
    } finally {
      run.settled = true
      this.#leave(run)
      this.#rest()
    }
  }

  /** Opens the session's onion. The first run does this automatically. */
  async open(): Promise<void> {
    if (this.#closing !== undefined) throw this.#closed()
    await this.#opening.open()
    this.#rest()
  }

  /** Returns everything that outlives the process, as plain data: history, persistent state and suspended calls. */
  snapshot(): Snapshot {
    return this.#known().snapshot()
  }

  /**
   * Restores a snapshot. @throws AlliumError `history.invalid`, `state.invalid`, and nothing has changed;
   * `session.busy` while a turn runs
   */
  restore(snapshot: Snapshot): void {
    if (this.#runs.length > 0) throw this.#isBusy('Await it before restore().')
    this.#scope.restore(snapshot)
    this.#opening.reached = true
  }

  /** Aborts the current run, even if its turn has not started. Queued runs continue. */
  abort(reason?: unknown): void {
    this.#runs[0]?.abort(reason)
  }

  /** Waits for all accepted runs, then runs the rest of every session layer. A second call returns the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Returns the scope if it has been loaded from the store, so that a stored session is never mistaken for an empty one. */
  #known(): SessionScope {
    const { storageLayer } = this.#host
    const { ownId, agent } = this.#scope
    const isNew = ownId && agent.setup.ids === randomIds
    const isRead = this.#opening.before !== undefined
    if (this.#opening.reached || (!isRead && (storageLayer === undefined || isNew))) return this.#scope
    const reason = isRead
      ? 'the turn that it begins with is read from the store'
      : `the layer "${storageLayer}" restores it`
    const what = `The session "${this.id}" has not been opened yet, and ${reason} when it opens.`
    throw new AlliumError('session.not_open', `${what} Call "await session.open()" first.`, {
      details: { sessionId: this.id, layer: storageLayer },
    })
  }

  async #close(): Promise<void> {
    for (let run = this.#runs[0]; run !== undefined; run = this.#runs[0]) await run.result?.catch(() => {})
    await this.#deferred
    await this.#opening.shut()
  }

  #start(task: Task<C>): AgentRun<S, unknown, K> {
    const options = task.options ?? {}
    const { readerTimeout: silence = this.#scope.agent.setup.readerTimeout } = options
    const key = keyWithin(options)
    const fingerprint = key === undefined ? '' : fingerprintOf(task)
    const known = key === undefined ? undefined : this.#host.keys.find(this.#scope, key)
    if (known?.fingerprint === fingerprint) return known.run as unknown as AgentRun<S, unknown, K>
    const run = new LiveRun(this.#scope.agent.setup.clock, silence)
    const started = new AgentRun<S, unknown, K>(run)
    const waits = this.#runs.length > 0
    const refusal =
      (known && this.#reused(key)) ??
      this.#refusal(waits) ??
      optionFault(options, task.decisions !== undefined) ??
      boundFault('readerTimeout', silence, 'run.options')
    if (refusal !== undefined) {
      withPartial(refusal, this.#nothing(run))
      run.result = Promise.reject(refusal)
      run.settle({ error: refusal })
      reportUnhandled(run, refusal, this.#scope)
      return started
    }
    this.#accept(run)
    this.#host.started(run)
    if (key !== undefined)
      this.#host.keys.remember(this.#scope, key, { run: started as unknown as AgentRun, fingerprint })
    run.result = this.#launch(run, task, waits)
    options.waitUntil?.(run.result.catch(() => {}))
    return started
  }

  #refusal(waits: boolean): Error | undefined {
    if (this.#closing !== undefined) return this.#closed()
    if (!waits || this.#onBusy === 'queue') return this.#host.refusal()
    return this.#isBusy("Await it, or make the session with { onBusy: 'queue' }.")
  }

  #reused(key: string | undefined): AlliumError {
    const what = `The key "${key}" belongs to another input of the session "${this.id}". Use a unique key for each input.`
    return new AlliumError('run.key_reused', what, { details: { sessionId: this.id } })
  }

  #closed(): AlliumError {
    const what = `The session "${this.id}" is closed. Open a new one with agent.session({ id }).`
    return new AlliumError('session.closed', what, { details: { sessionId: this.id } })
  }

  #isBusy(fix: string): AlliumError {
    const what = `The session "${this.id}" runs a turn already. ${fix}`
    return new AlliumError('session.busy', what, { details: { sessionId: this.id } })
  }

  /** Adds the run to the end of the session's queue. */
  #accept(run: LiveRun): AbortableWaits {
    this.#runs.push(run)
    this.#opening.stir()
    run.waits = new AbortableWaits((error) => this.#scope.report(error, 'turn:start'))
    return run.waits
  }

  /** Removes a settled run and starts the next one. */
  #leave(run: LiveRun): void {
    const position = this.#runs.indexOf(run)
    if (position !== -1) this.#runs.splice(position, 1)
    if (position === 0) this.#runs[0]?.front?.()
  }

  /** Starts the turn in the same tick if there is nothing to wait for. */
  #launch(run: LiveRun, task: Task<C>, waits: boolean): Promise<RunResult> {
    try {
      run.follow(task.options.signal)
      if (!waits && this.#opening.openAtOnce() && this.#isPlain(task))
        return this.#enter(run, task, {}).then(() => this.#end(run, task))
    } catch (error) {
      return this.#failed(run, task, error)
    }
    return this.#launchLater(run, task)
  }

  #isPlain({ decisions, options }: Task<C>): boolean {
    const scope = this.#scope
    if (decisions !== undefined || scope.registered.aroundRun !== undefined) return false
    return !isRestartable(options, scope) && inheritedInputs(scope).length === 0
  }

  async #launchLater(run: LiveRun, task: Task<C>): Promise<RunResult> {
    const waits = run.waits as AbortableWaits
    const opening = this.#opening.open(waits.cancel)
    silence(opening)
    let rollback: (() => void) | undefined
    try {
      if (this.#runs[0] !== run) await waits.until(new Promise<void>((resolve) => (run.front = resolve)))
      await opening
      run.follow(undefined)
      const stored = await this.#runWrapped(run, task, waits)
      if (stored !== undefined) {
        const show = await waits.until(this.#host.displayFor(this.#scope.key))
        const result = endAsStored(run.events, this.#scope, stored, show(stored.answer ?? ''))
        this.#settle(run, task, { result })
        return result
      }
    } catch (error) {
      if (run.turn === undefined) return this.#failed(run, task, error)
      rollback = notStored(run.turn, error)
    }
    return this.#end(run, task, rollback)
  }

  #end(run: LiveRun, task: Task<C>, rollback?: () => void): Promise<RunResult> {
    return endTurn(run.turn as Turn, (end) => this.#settle(run, task, end), rollback)
  }

  /** Runs a task inside the session's wrappers. Returns the stored turn that answers it, if it did not run. */
  async #runWrapped(run: LiveRun, task: Task<C>, waits: AbortableWaits): Promise<StoredTurn | undefined> {
    const scope = this.#scope
    const isWrapped = scope.registered.aroundRun !== undefined
    if (task.decisions === undefined) toMessages(task.input)
    const storedAs = isWrapped ? await storedAsOf(task) : undefined
    const enter = async () => {
      const prepared = await prepare(task, scope, this.#host, waits)
      const ready = await waits.until(delegated(task, scope))
      run.follow(undefined)
      return this.#enter(run, ready, { ...prepared, storedAs })
    }
    if (!isWrapped) {
      await enter()
      return undefined
    }
    const details = { ...runDetails(task, scope, storedAs), abort: (reason: unknown) => run.abort(reason), waits }
    const turn = await aroundRun(scope, 'run', async () => endedTurn(await enter()), details)
    if (run.turn === undefined) return turn
    scope.markStored(turn)
    return undefined
  }

  /** Runs a turn until its history is final. Throws if the run's options are invalid; nothing has changed then. */
  #enter(run: LiveRun, task: Task<C>, prepared: Prepared): Promise<Turn> {
    const output = outputOf(task, this.#scope)
    const turn = turnOf(task, this.#scope, this.#host, { prepared, events: run.events, output })
    run.begin(turn)
    return runLayers(turn, output && ((text) => parseOutput(output, text)))
  }

  /** Returns the partial state of a run whose turn has not started. */
  #nothing({ partial }: LiveRun): Partial {
    return { ...partial, sessionId: this.id }
  }

  #failed(run: LiveRun, task: Task<C>, error: unknown): Promise<never> {
    if (partialTurn(error) === undefined) withPartial(error, this.#nothing(run))
    this.#settle(run, task, { error })
    return Promise.reject(error)
  }

  /** Settles a run and frees the session for the next one. The session closes only after the deferred work has ended too. */
  #settle(run: LiveRun, { options }: Task<C>, end: Settled): void {
    const key = keyWithin(options)
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
    this.#rest()
  }

  /** Starts the idle timer, unless there are runs or deferred work. */
  #rest(): void {
    if (this.#runs.length === 0 && this.#deferred === undefined) this.#opening.rest()
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
