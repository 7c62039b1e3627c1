import { silence } from '../compose/thenable.ts'
import { toAbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import { loop } from '../loop/loop.ts'
import type { RunResult } from '../loop/run-result.ts'
import { runTurn } from '../loop/run-turn.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import { toMessages } from '../messages/input.ts'
import type { Input, ToolCallPart } from '../messages/message.ts'
import { Gate } from '../scopes/gate.ts'
import { SessionView } from '../scopes/session-context.ts'
import type { SessionScope } from '../scopes/session-scope.ts'
import { type RunEvents, TurnScope } from '../scopes/turn-scope.ts'
import type { State } from '../state/state-store.ts'
import { AgentRun } from './agent-run.ts'
import { LiveRun } from './live-run.ts'
import type { RunOptions, Snapshot } from './options.ts'
import type { SessionHost } from './session-host.ts'

/** One conversation with an agent: its history and state, and one turn at a time. */
export class Session<S = State, C = unknown> {
  readonly id: string
  readonly #scope: SessionScope
  readonly #host: SessionHost
  readonly #busy: 'reject' | 'queue'
  #gate: Gate | undefined
  #opening: Promise<void> | undefined
  #ready = false
  #closed = false
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
  /** Tool calls that wait for a decision. */
  get pending(): readonly ToolCallPart[] {
    return this.#scope.history.pending()
  }

  /** Starts a turn at once. Failures reject the run; nothing is thrown here. */
  run(input: Input, options: RunOptions<C> = {}): AgentRun<S> {
    const { idempotencyKey } = options
    const known = idempotencyKey === undefined ? undefined : this.#keyed?.get(idempotencyKey)
    if (known !== undefined) return known
    return this.#start(input, options)
  }

  /** Opens the session's onion; the first run does it by itself. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** What outlives the process: history and persistent state, as copies. */
  snapshot(): Snapshot {
    return { history: structuredClone([...this.#scope.history.items]), state: this.#scope.state.persistent() }
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

  /** Waits for the running turn, then runs the rest of every session layer. A second call does nothing. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#last?.result?.catch(() => {})
    await this.#deferred
    this.#host.closed(this)
    await this.#gate?.shut()
    if (this.#ready) this.#tell('session:end')
  }

  #start(input: Input, options: RunOptions<C>): AgentRun<S> {
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
    if (!waits && (this.#ready || this.#openAtOnce())) run.result = this.#begin(run, input, options)
    else run.result = this.#beginLater(run, before, input, options)
    options.waitUntil?.(run.result.catch(() => {}))
    const started = new AgentRun<S>(run)
    if (options.idempotencyKey !== undefined) this.#remember(options.idempotencyKey, started)
    return started
  }

  #refusal(waits: boolean): Error | undefined {
    if (this.#closed)
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

  async #beginLater(
    run: LiveRun,
    before: LiveRun | undefined,
    input: Input,
    options: RunOptions<C>,
  ): Promise<RunResult> {
    const opening = this.open()
    silence(opening)
    await before?.result?.catch(() => {})
    try {
      await opening
    } catch (error) {
      this.#settle(run, { error })
      throw error
    }
    return this.#begin(run, input, options)
  }

  #begin(run: LiveRun, input: Input, options: RunOptions<C>): Promise<RunResult> {
    try {
      const turn = this.#turn(input, options, run.events)
      run.begin(turn)
      const release = options.signal === undefined ? undefined : follow(turn, options.signal)
      return runTurn(turn, (end) => {
        release?.()
        this.#settle(run, end)
      })
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

  #turn(input: Input, options: RunOptions<C>, events: RunEvents): TurnScope {
    const scope = this.#scope
    const { setup } = scope.agent
    return new TurnScope(scope, {
      input: toMessages(input),
      context: options.context === undefined ? scope.context : this.#host.checkContext(options.context),
      model: options.model ?? setup.model,
      settings: options.settings === undefined ? setup.settings : { ...setup.settings, ...options.settings },
      maxSteps: options.maxSteps ?? setup.maxSteps,
      onion: options.use === undefined ? scope.agent.onion : this.#host.onionWith(options.use),
      events,
      loop,
    })
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
      const gate = new Gate('session', hooks, this.#scope, (frame) => new SessionView(frame))
      await gate.open()
      this.#gate = gate
      this.#host.opened(this)
    }
    this.#opened()
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
