import { AlliumError } from '../errors/allium-error.ts'
import { boundFault } from '../errors/bound-fault.ts'
import { checkOptions } from '../errors/known-options.ts'
import { silence } from '../errors/thenable.ts'
import { type Partial, withPartial } from '../loop/partial.ts'
import type { RunResult } from '../loop/run-result.ts'
import { runTurn } from '../loop/run-turn.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import type { Input } from '../messages/message.ts'
import type { DisplayTransform } from '../middleware/display-transform.ts'
import type { OutputOf, OutputOption } from '../output/output.ts'
import { parseOutput } from '../output/parse-output.ts'
import { SessionScope } from '../rings/session/session-scope.ts'
import { inheritedInputs } from '../rings/turn/inputs.ts'
import { randomIds } from '../seams/ids.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../seams/register.ts'
import type { SessionKey, StoredTurn } from '../seams/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { Decision } from '../tool/approval.ts'
import type { CallTypes } from '../tool/typed-calls.ts'
import { AbortableWaits } from './abortable-waits.ts'
import { AgentRun } from './agent-run.ts'
import { approverOf, decidable } from './approvers.ts'
import { checkedDecisions } from './decisions.ts'
import { releaseKeepers } from './keepers.ts'
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
import { emitStored, storedResult } from './stored-run.ts'
import { delegated, isRestartable, outputOf, type Prepared, prepare, type Task, toolsOf, turnOf } from './task.ts'

const ofCheck = { decider: true } as const

/** One conversation with an agent: its history and state, and one turn at a time. */
export class Session<S = State, C = RegisteredContext, K extends CallTypes = CallTypes> {
  readonly id: string
  readonly #scope: SessionScope
  readonly #host: SessionHost
  readonly #onBusy: 'reject' | 'queue'
  readonly #opening: Opening
  #closing: Promise<void> | undefined
  /** The runs that were accepted and have not settled, in their order: the first one runs, the others wait. */
  readonly #runs: LiveRun[] = []
  #deferred: Promise<void> | undefined

  /** Made by `agent.session()`. */
  constructor(host: SessionHost, scope: SessionScope, busy: 'reject' | 'queue') {
    this.id = scope.id
    this.#host = host
    this.#onBusy = busy
    this.#scope = scope
    this.#opening = new Opening(host, scope, this)
  }

  /** Where it is kept, in stores and event logs. No session of another agent, owner or tenant has this key. */
  get key(): SessionKey {
    return { ...this.#scope.key }
  }
  /** @throws AlliumError `session.not_open`, as state, pending, snapshot() and fork() do, before a stored session was opened */
  get history(): ReadonlyHistory {
    return this.#known().history.view
  }
  get state(): S {
    return this.#known().state.view as S
  }
  /**
   * Tool calls of this agent that wait for a decision: those of the last answer without a result. Of an agent with `approvals.mayDecide` as
   * the model made them, without their tokens: those are for who may decide, from `pendingFor()`.
   */
  get pending(): readonly K['pending'][] {
    return this.#known().pending
  }

  /**
   * The calls that wait which somebody may approve, with their tokens and true values: by the agent's `approvals.mayDecide`;
   * without it all of them, for the owner of the session. In other tenants there are none.
   */
  async pendingFor(principal: RegisteredPrincipal): Promise<K['pending'][]> {
    return decidable(this.#known(), this.#host.checkPrincipal(principal))
  }

  /**
   * Checks decisions as `resume()` does, and uses none of them: before they are kept for a run that comes later.
   *
   * @returns the ids of the calls of this session that they are for; of those inside a sub-agent the call that runs it
   * @throws AlliumError `approval.*`
   */
  async checkDecisions(
    decisions: Readonly<Record<string, Decision>>,
    options: { decider?: RegisteredPrincipal } = {},
  ): Promise<string[]> {
    checkOptions(options, ofCheck, 'checkDecisions()', 'run.options')
    const { decider } = options
    const scope = this.#known()
    const by = approverOf(scope, decider === undefined ? undefined : this.#host.checkPrincipal(decider))
    const { tools } = toolsOf({ options: {}, decisions }, scope)
    return [...(await checkedDecisions(scope, decisions, by, tools)).callIds]
  }

  /** Starts a turn at once. Failures reject the run; nothing is thrown here. Calls that wait are closed as not approved. */
  run<O extends OutputOption | undefined = undefined>(
    input: Input,
    options: RunOptions<C, O> = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>, K> {
    return this.#start({ input, decisions: undefined, options }) as AgentRun<S, OutputOf<O>, K>
  }

  /**
   * Goes on with a turn that waits: a run of its own in which the decided calls run. Those left undecided go on waiting.
   *
   * @param decisions by call id: `{ approve: true }`, `{ deny: 'why' }` or `{ args }`, with the call's `token` where the agent signs
   * @param options.decider who decides, as your server has verified him @default the principal of the session
   * @throws (the run) AlliumError `approval.*`, and nothing has changed
   */
  resume<O extends OutputOption | undefined = undefined>(
    decisions: Readonly<Record<string, Decision>>,
    options: ResumeOptions<C, O> = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>, K> {
    return this.#start({ input: [], decisions: decisions ?? null, options }) as AgentRun<S, OutputOf<O>, K>
  }

  /**
   * A session of its own that begins with what this one had after a turn. Calls that wait are closed there as not approved.
   *
   * @param options.at a turn that has ended. Where another process has run it, it is read from the store as the fork opens,
   * with `open()` or its first run, which then fails where the store does not have it @default what there is now
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
    if (at === undefined || this.#scope.knowsTurn(at) || !canFind(this.#scope)) begin(this.#scope.snapshotAt(at))
    else fork.#opening.before = () => snapshotAt(this.#scope, at).then((snapshot) => () => begin(snapshot))
    return fork
  }

  /**
   * Goes back to what the session was after a turn: later messages, state and calls that wait are gone, here and where it is
   * stored. What was spent, recorded and approved stays so.
   *
   * @param options.to a turn that has ended, here or in another process that stored it
   * @throws AlliumError `session.unknown_turn`, `session.busy` while a turn runs; nothing has changed then
   */
  async rewind(options: { to: string }): Promise<void> {
    checkRewindOptions(options)
    const { to } = options
    if (this.#closing !== undefined) throw this.#closed()
    if (this.#runs.length > 0) throw this.#isBusy('Await it before rewind().')
    const run = new LiveRun(this.#scope.agent.setup.clock, false)
    const waits = this.#accept(run)
    const rewound = this.#opening.open(waits.cancel).then(() => rewind(this.#scope, to, waits))
    run.result = rewound.then(nothingRan)
    silence(run.result)
    try {
      await rewound
    } finally {
      run.settled = true
      this.#leave(run)
      this.#rest()
    }
  }

  /** Opens the session's onion; the first run does it by itself. */
  async open(): Promise<void> {
    if (this.#closing !== undefined) throw this.#closed()
    await this.#opening.open()
    this.#rest()
  }

  /** All that outlives the process, as plain data: history, persistent state, what waits for a decision. */
  snapshot(): Snapshot {
    return this.#known().snapshot()
  }

  /** Goes on from a snapshot. @throws AlliumError `history.invalid`, `state.invalid`, and nothing has changed; `session.busy` while a turn runs */
  restore(snapshot: Snapshot): void {
    if (this.#runs.length > 0) throw this.#isBusy('Await it before restore().')
    this.#scope.restore(snapshot)
    this.#opening.reached = true
  }

  /** Aborts the run that goes on now, also where its turn has not begun yet. Those that wait behind it go on. */
  abort(reason?: unknown): void {
    this.#runs[0]?.abort(reason)
  }

  /** Waits for the running turn, then runs the rest of every session layer. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The session once it is what its store says, so that nobody takes a stored session for an empty one. */
  #known(): SessionScope {
    const { keeper } = this.#host
    const { ownId, agent } = this.#scope
    const isNew = ownId && agent.setup.ids === randomIds
    const isRead = this.#opening.before !== undefined
    if (this.#opening.reached || (!isRead && (keeper === undefined || isNew))) return this.#scope
    const reason = isRead ? 'the turn that it begins with is read from the store' : `the layer "${keeper}" restores it`
    const what = `The session "${this.id}" has not been opened yet, and ${reason} when it opens.`
    throw new AlliumError('session.not_open', `${what} Call "await session.open()" first.`, {
      details: { sessionId: this.id, layer: keeper },
    })
  }

  async #close(): Promise<void> {
    for (let run = this.#runs[0]; run !== undefined; run = this.#runs[0]) await run.result?.catch(() => {})
    await this.#deferred
    await this.#opening.shut()
  }

  #start(task: Task<C>): AgentRun<S, unknown, K> {
    const options = task.options ?? {}
    const { readerSilence: silence = this.#scope.agent.setup.readerSilence } = options
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
      boundFault('readerSilence', silence, 'run.options')
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
    return this.#isBusy("Await it, or make the session with { busy: 'queue' }.")
  }

  #reused(key: string | undefined): AlliumError {
    const what = `The key "${key}" stands for another input in the session "${this.id}". Give each input a key of its own.`
    return new AlliumError('run.key_reused', what, { details: { sessionId: this.id } })
  }

  #closed(): AlliumError {
    const what = `The session "${this.id}" is closed. Open another one with agent.session({ id }).`
    return new AlliumError('session.closed', what, { details: { sessionId: this.id } })
  }

  #isBusy(fix: string): AlliumError {
    const what = `The session "${this.id}" runs a turn already. ${fix}`
    return new AlliumError('session.busy', what, { details: { sessionId: this.id } })
  }

  /** The run is the last one of the session now. */
  #accept(run: LiveRun): AbortableWaits {
    this.#runs.push(run)
    this.#opening.stir()
    run.waits = new AbortableWaits((error) => this.#scope.report(error, 'turn:start'))
    return run.waits
  }

  /** The run has settled: the one behind it is the first. */
  #leave(run: LiveRun): void {
    const position = this.#runs.indexOf(run)
    if (position !== -1) this.#runs.splice(position, 1)
    if (position === 0) this.#runs[0]?.front?.()
  }

  #launch(run: LiveRun, task: Task<C>, waits: boolean): Promise<RunResult> {
    try {
      run.follow(task.options.signal)
    } catch (error) {
      return this.#failed(run, task, error)
    }
    return !waits && this.#opening.openAtOnce() ? this.#begin(run, task) : this.#beginLater(run, task)
  }

  async #beginLater(run: LiveRun, task: Task<C>): Promise<RunResult> {
    const waits = run.waits as AbortableWaits
    const opening = this.#opening.open(waits.cancel)
    silence(opening)
    try {
      if (this.#runs[0] !== run) await waits.until(new Promise<void>((resolve) => (run.front = resolve)))
      await opening
      run.follow(undefined)
    } catch (error) {
      return this.#failed(run, task, error)
    }
    return this.#begin(run, task)
  }

  #begin(run: LiveRun, task: Task<C>): Promise<RunResult> {
    const isPlain = task.decisions === undefined && inheritedInputs(this.#scope).length === 0
    if (isPlain && this.#scope.keepers === undefined && !isRestartable(task.options, this.#scope)) {
      try {
        return this.#enter(run, task, {})
      } catch (error) {
        return this.#failed(run, task, error)
      }
    }
    return this.#beginPrepared(run, task)
  }

  async #beginPrepared(run: LiveRun, task: Task<C>): Promise<RunResult> {
    const waits = run.waits as AbortableWaits
    let entered: Promise<RunResult>
    try {
      const abort = (reason: unknown) => run.abort(reason)
      const prepared = await prepare(task, this.#scope, this.#host, { waits, abort })
      if (prepared.stored !== undefined) {
        const show = await waits.until(this.#host.showing(this.#scope.key))
        return this.#answered(run, task, prepared.stored, show)
      }
      try {
        const ready = await waits.until(delegated(task, this.#scope))
        run.follow(undefined)
        entered = this.#enter(run, ready, prepared)
      } catch (error) {
        await waits.until(releaseKeepers(this.#scope))
        throw error
      }
    } catch (error) {
      return this.#failed(run, task, error)
    }
    return entered
  }

  /** Throws where the run's options are refused; nothing has changed then. */
  #enter(run: LiveRun, task: Task<C>, prepared: Prepared): Promise<RunResult> {
    const output = outputOf(task, this.#scope)
    const turn = turnOf(task, this.#scope, this.#host, { prepared, events: run.events, output })
    run.begin(turn)
    const settled = (end: Settled) => this.#settle(run, task, end)
    return output === undefined ? runTurn(turn, settled) : runTurn(turn, settled, (text) => parseOutput(output, text))
  }

  /** The run of its key was stored: it ends as that did. */
  #answered(run: LiveRun, task: Task<C>, stored: StoredTurn, show: DisplayTransform): RunResult {
    const text = show(stored.answer ?? '')
    emitStored(run.events, this.#scope, stored, text)
    const result = storedResult(stored, this.#scope, text)
    this.#settle(run, task, { result })
    return result
  }

  /** What there is of a run whose turn has not begun. */
  #nothing({ partial }: LiveRun): Partial {
    return { ...partial, sessionId: this.id }
  }

  #failed(run: LiveRun, task: Task<C>, error: unknown): Promise<never> {
    if (partialTurn(error) === undefined) withPartial(error, this.#nothing(run))
    this.#settle(run, task, { error })
    return Promise.reject(error)
  }

  /** The session is free for its next run; it closes only when deferred work has ended too. */
  #settle(run: LiveRun, { options }: Task<C>, end: Settled): void {
    const key = keyWithin(options)
    const deferred = run.turn?.startedFinalizers?.deferred
    run.settle(end)
    // A session that is stored knows its keys itself, in every process, until it is deleted.
    const isRemembered = this.#host.keeper === undefined && (!('error' in end) || run.begun)
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

  /** From now on the session is idle, if nothing runs, waits or is deferred. */
  #rest(): void {
    if (this.#runs.length === 0 && this.#deferred === undefined) this.#opening.rest()
  }
}

/** The key that finds a run of this process. A run with a journal is begun again by who has it: what this process began before is lost. */
function keyWithin({ idempotencyKey, journal }: Pick<RunOptions, 'idempotencyKey' | 'journal'>): string | undefined {
  return journal === undefined ? idempotencyKey : undefined
}

/** Whether turns of other processes can be read. */
function canFind({ keepers = [] }: SessionScope): boolean {
  return keepers.some((keeper) => keeper.find !== undefined)
}

function nothingRan(): never {
  throw new Error('No run: the session went back.')
}

function optionFault(options: object, resumes: boolean): AlliumError | undefined {
  try {
    checkRunOptions(options, resumes)
    return undefined
  } catch (error) {
    return error as AlliumError
  }
}

/** The turn that an error tells of: one that failed before, whose key was used again. */
function partialTurn(error: unknown): string | undefined {
  return (error as { partial?: Partial } | undefined)?.partial?.turnId
}
