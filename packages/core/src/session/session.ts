import type { Onion } from '../compose/passage.ts'
import { silence } from '../compose/thenable.ts'
import { toAbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import { loop } from '../loop/loop.ts'
import type { RunResult } from '../loop/run-result.ts'
import { runTurn } from '../loop/run-turn.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import { toMessages } from '../messages/input.ts'
import type { Input } from '../messages/message.ts'
import type { Middleware, Usable } from '../middleware/middleware.ts'
import { inheritOnion } from '../middleware/onion.ts'
import type { OutputOf, OutputOption } from '../output/output.ts'
import { parseOutput } from '../output/parse-output.ts'
import { type OutputPlan, outputPlan } from '../output/plan.ts'
import { Gate } from '../scopes/gate.ts'
import { SessionView } from '../scopes/session-context.ts'
import { SessionScope } from '../scopes/session-scope.ts'
import { type Resume, type RunEvents, TurnScope } from '../scopes/turn-scope.ts'
import type { SessionKeeper } from '../seams/session-store.ts'
import type { PendingCall, Snapshot } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { Decision } from '../tool/approval.ts'
import { AgentRun } from './agent-run.ts'
import { checkDecisions } from './decisions.ts'
import { LiveRun } from './live-run.ts'
import type { RunOptions } from './options.ts'
import { Relay } from './relay.ts'
import type { SessionHost } from './session-host.ts'

/** What a run is to do: answer an input, or go on from decisions. */
interface Task<C> {
  readonly input: Input
  /** Undefined for a run of its own. */
  readonly decisions: unknown
  readonly options: RunOptions<C, OutputOption | undefined>
}

/** One conversation with an agent: its history and state, and one turn at a time. */
export class Session<S = State, C = unknown> {
  readonly id: string
  readonly #scope: SessionScope
  readonly #host: SessionHost
  readonly #busy: 'reject' | 'queue'
  #gate: Gate | undefined
  #opening: Promise<void> | undefined
  #ready = false
  #closing: Promise<void> | undefined
  /** The last run that was accepted, settled or not. */
  #last: LiveRun | undefined
  #deferred: Promise<void> | undefined
  #keyed: Map<string, AgentRun<S>> | undefined

  /** Made by `agent.session()`. */
  constructor(host: SessionHost, scope: SessionScope, busy: 'reject' | 'queue') {
    this.id = scope.id
    this.#host = host
    this.#busy = busy
    this.#scope = scope
  }

  get history(): ReadonlyHistory {
    return this.#scope.history.view
  }
  get state(): S {
    return this.#scope.state.view as S
  }
  /** Tool calls that wait for a decision: those of the last answer without a result. */
  get pending(): readonly PendingCall[] {
    return this.#scope.pending
  }

  /** Starts a turn at once. Failures reject the run; nothing is thrown here. Calls that wait are closed as not approved. */
  run<O extends OutputOption | undefined = undefined>(
    input: Input,
    options: RunOptions<C, O> = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>> {
    const { idempotencyKey } = options
    const known = idempotencyKey === undefined ? undefined : this.#keyed?.get(idempotencyKey)
    return (known ?? this.#start({ input, decisions: undefined, options })) as AgentRun<S, OutputOf<O>>
  }

  /**
   * Goes on with a turn that waits: a run of its own in which the decided calls run. Those left undecided go on waiting.
   *
   * @param decisions by call id: `{ approve: true }`, `{ deny: 'why' }` or `{ args }`, with the call's `token` where the agent signs
   * @throws (the run) AlliumError `approval.*`, and nothing has changed
   */
  resume<O extends OutputOption | undefined = undefined>(
    decisions: Readonly<Record<string, Decision>>,
    options: RunOptions<C, O> = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>> {
    const { idempotencyKey } = options
    const known = idempotencyKey === undefined ? undefined : this.#keyed?.get(idempotencyKey)
    return (known ?? this.#start({ input: [], decisions: decisions ?? null, options })) as AgentRun<S, OutputOf<O>>
  }

  /**
   * A session of its own that begins with what this one had after a turn. Calls that wait are closed there as not approved.
   *
   * @param options.at a turn that ended in this process @default what there is now
   * @throws AlliumError `session.unknown_turn`
   */
  fork({ at, id }: { at?: string; id?: string } = {}): Session<S, C> {
    const { agent, principal, context, metadata } = this.#scope
    const own = id === undefined ? agent.setup.ids() : this.#host.checkSessionId(id)
    const scope = new SessionScope(agent, own, principal, context, { ...metadata }, id === undefined)
    scope.restore(this.#scope.snapshotAt(at))
    scope.history.closePending('Not approved.')
    return new Session(this.#host, scope, this.#busy)
  }

  /** Opens the session's onion; the first run does it by itself. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** All that outlives the process, as plain data: history, persistent state, what waits for a decision. */
  snapshot(): Snapshot {
    return this.#scope.snapshot()
  }

  /** Goes on from a snapshot. @throws AlliumError `history.invalid`; `session.busy` while a turn runs */
  restore(snapshot: Snapshot): void {
    if (this.#last !== undefined && !this.#last.settled) throw this.#refusal(true)
    this.#scope.restore(snapshot)
  }

  /** Aborts the turn that runs now. */
  abort(reason?: unknown): void {
    this.#scope.turn?.cut('aborted', toAbortError(reason))
  }

  /** Waits for the running turn, then runs the rest of every session layer. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#last?.result?.catch(() => {})
    await this.#deferred
    try {
      await this.#gate?.shut()
    } finally {
      this.#host.closed(this)
    }
    if (this.#ready) this.#tell('session:end')
  }

  #start(task: Task<C>): AgentRun<S> {
    const { options } = task
    const run = new LiveRun()
    const before = this.#last
    const waits = before !== undefined && !before.settled
    const refusal = this.#refusal(waits)
    if (refusal !== undefined) {
      run.result = Promise.reject(refusal)
      run.settle({ error: refusal })
      return new AgentRun<S>(run)
    }
    this.#last = run
    this.#host.started()
    if (!waits && (this.#ready || this.#openAtOnce())) run.result = this.#begin(run, task)
    else run.result = this.#beginLater(run, before, task)
    options.waitUntil?.(run.result.catch(() => {}))
    const started = new AgentRun<S>(run)
    if (options.idempotencyKey !== undefined) this.#remember(options.idempotencyKey, started)
    return started
  }

  #refusal(waits: boolean): Error | undefined {
    if (this.#closing !== undefined)
      return new AlliumError(
        'session.closed',
        `The session "${this.id}" is closed. Open another one with agent.session({ id }).`,
        { details: { sessionId: this.id } },
      )
    if (!waits || this.#busy === 'queue') return this.#host.refusal()
    return new AlliumError(
      'session.busy',
      `The session "${this.id}" runs a turn already. Await it, or make the session with { busy: 'queue' }.`,
      { details: { sessionId: this.id } },
    )
  }

  async #beginLater(run: LiveRun, before: LiveRun | undefined, task: Task<C>): Promise<RunResult> {
    const opening = this.open()
    silence(opening)
    await before?.result?.catch(() => {})
    try {
      await opening
    } catch (error) {
      this.#settle(run, { error })
      throw error
    }
    return this.#begin(run, task)
  }

  #begin(run: LiveRun, task: Task<C>): Promise<RunResult> {
    const { keepers } = this.#scope
    if (keepers === undefined && task.decisions === undefined) return this.#enter(run, task, undefined)
    return this.#prepare(task, keepers ?? []).then(
      (resume) => this.#enter(run, task, resume),
      (error) => {
        this.#settle(run, { error })
        throw error
      },
    )
  }

  /** Before a run that is stored, or that resumes. */
  async #prepare({ decisions, input }: Task<C>, keepers: readonly SessionKeeper[]): Promise<Resume | undefined> {
    if (decisions === undefined) toMessages(input)
    const begun: SessionKeeper[] = []
    try {
      for (const keeper of keepers) {
        await keeper.begin?.()
        begun.push(keeper)
      }
      return decisions === undefined ? undefined : await checkDecisions(this.#scope, decisions)
    } catch (error) {
      for (const keeper of begun) await keeper.end?.(undefined)
      throw error
    }
  }

  #enter(run: LiveRun, { input, options }: Task<C>, resume: Resume | undefined): Promise<RunResult> {
    try {
      const output = options.output === undefined ? undefined : this.#plan(options.output)
      const turn = this.#turn(input, options, run.events, resume, output)
      run.begin(turn)
      const release = options.signal === undefined ? undefined : follow(turn, options.signal)
      const settled = (end: { error?: unknown }) => {
        release?.()
        this.#settle(run, end)
      }
      return output === undefined ? runTurn(turn, settled) : runTurn(turn, settled, (text) => parseOutput(output, text))
    } catch (error) {
      this.#settle(run, { error })
      return Promise.reject(error)
    }
  }

  /** The session is free for its next run; it closes only when deferred work has ended too. */
  #settle(run: LiveRun, end: { error?: unknown }): void {
    run.settle(end)
    if (this.#last === run) this.#last = undefined
    const deferred = run.turn?.deferred
    if (deferred === undefined) return this.#host.settled()
    const ended = Promise.all([this.#deferred, ...deferred]).then(() => {
      if (this.#deferred === ended) this.#deferred = undefined
      this.#host.settled()
    })
    this.#deferred = ended
  }

  #plan(option: OutputOption): OutputPlan {
    return outputPlan(option, this.#scope.agent.tools.defs.length > 0)
  }

  #turn(
    input: Input,
    options: RunOptions<C, OutputOption | undefined>,
    events: RunEvents,
    resume: Resume | undefined,
    output: OutputPlan | undefined,
  ): TurnScope {
    const scope = this.#scope
    const { setup } = scope.agent
    const messages = resume === undefined ? toMessages(input) : []
    const context = options.context === undefined ? scope.context : this.#host.checkContext(options.context)
    const onion = this.#onion(options.use, output?.layer)
    scope.beginRun(resume !== undefined)
    const { parent } = scope
    const relay = parent === undefined ? undefined : new Relay(events, parent.turn, setup.name)
    const turn = new TurnScope(scope, {
      input: messages,
      resume,
      context,
      model: options.model ?? setup.model,
      settings: options.settings === undefined ? setup.settings : { ...setup.settings, ...options.settings },
      maxSteps: options.maxSteps ?? setup.maxSteps,
      onion,
      events: relay ?? events,
      format: output,
      loop,
    })
    if (relay !== undefined) relay.turn = turn
    return turn
  }

  #onion(use: readonly Usable[] | undefined, last: Middleware | undefined): Onion {
    const { agent, parent } = this.#scope
    const all = last === undefined ? use : [...(use ?? []), last]
    const own = all === undefined ? agent.onion : this.#host.onionWith(all)
    return parent === undefined ? own : inheritOnion(parent.turn.options.onion, own)
  }

  #remember(key: string, run: AgentRun<S>): void {
    this.#keyed ??= new Map()
    this.#keyed.set(key, run)
    if (this.#keyed.size > 100) this.#keyed.delete(this.#keyed.keys().next().value as string)
  }

  /** Opens without waiting, where there is nothing to wait for. */
  #openAtOnce(): boolean {
    if (!this.#host.ready || this.#opening !== undefined || this.#scope.agent.onion.session.length > 0) return false
    this.#opened()
    return true
  }

  async #open(): Promise<void> {
    await this.#host.init()
    const hooks = this.#scope.agent.onion.session
    if (hooks.length > 0) {
      await this.#openGate(new Gate('session', hooks, this.#scope, (frame) => new SessionView(frame)))
      this.#host.opened(this)
    }
    this.#opened()
  }

  async #openGate(gate: Gate): Promise<void> {
    const scope = this.#scope
    scope.opening = true
    scope.keepers = undefined
    try {
      await gate.open()
    } finally {
      scope.opening = false
    }
    this.#gate = gate
  }

  #opened(): void {
    if (this.#ready) return
    this.#ready = true
    this.#tell('session:start')
  }

  #tell(type: 'session:start' | 'session:end'): void {
    const { observers } = this.#scope.agent
    if (observers.has(type)) observers.emit(type, { type, sessionId: this.id })
  }
}

/** Ties a turn to the caller's signal; gives what unties it. */
function follow(turn: TurnScope, signal: AbortSignal): () => void {
  const abort = () => turn.cut('aborted', toAbortError(signal.reason))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}
