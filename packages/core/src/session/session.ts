import { silence } from '../compose/thenable.ts'
import { toAbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import { boundFault } from '../errors/bound-fault.ts'
import type { RunResult } from '../loop/run-result.ts'
import { runTurn } from '../loop/run-turn.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import type { Input } from '../messages/message.ts'
import type { OutputOf, OutputOption } from '../output/output.ts'
import { parseOutput } from '../output/parse-output.ts'
import { SessionScope } from '../scopes/session-scope.ts'
import type { Resume } from '../scopes/turn-options.ts'
import type { TurnScope } from '../scopes/turn-scope.ts'
import type { PendingCall, Snapshot } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { Decision } from '../tool/approval.ts'
import { AgentRun } from './agent-run.ts'
import { LiveRun } from './live-run.ts'
import { Opening } from './opening.ts'
import type { RunOptions } from './options.ts'
import type { SessionHost } from './session-host.ts'
import { giveBack, outputOf, prepare, type Task, turnOf } from './task.ts'

/** One conversation with an agent: its history and state, and one turn at a time. */
export class Session<S = State, C = unknown> {
  readonly id: string
  readonly #scope: SessionScope
  readonly #host: SessionHost
  readonly #busy: 'reject' | 'queue'
  readonly #opening: Opening
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
    this.#opening = new Opening(host, scope, this)
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
    return this.#opening.open()
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
    await this.#opening.shut()
  }

  #start(task: Task<C>): AgentRun<S> {
    const { options } = task
    const { clock, readerSilence } = this.#scope.agent.setup
    const silence = options.readerSilence ?? readerSilence
    const run = new LiveRun(clock, silence)
    const before = this.#last
    const waits = before !== undefined && !before.settled
    const refusal = this.#refusal(waits) ?? boundFault('readerSilence', silence, 'run.options')
    if (refusal !== undefined) {
      run.result = Promise.reject(refusal)
      run.settle({ error: refusal })
      return new AgentRun<S>(run)
    }
    this.#last = run
    this.#host.started()
    if (!waits && this.#opening.openAtOnce()) run.result = this.#begin(run, task)
    else run.result = this.#beginLater(run, before, task)
    options.waitUntil?.(run.result.catch(() => {}))
    const started = new AgentRun<S>(run)
    if (options.idempotencyKey !== undefined) this.#remember(options.idempotencyKey, started)
    return started
  }

  #refusal(waits: boolean): Error | undefined {
    const details = { sessionId: this.id }
    if (this.#closing !== undefined) {
      const what = `The session "${this.id}" is closed. Open another one with agent.session({ id }).`
      return new AlliumError('session.closed', what, { details })
    }
    if (!waits || this.#busy === 'queue') return this.#host.refusal()
    const what = `The session "${this.id}" runs a turn already. Await it, or make the session with { busy: 'queue' }.`
    return new AlliumError('session.busy', what, { details })
  }

  async #beginLater(run: LiveRun, before: LiveRun | undefined, task: Task<C>): Promise<RunResult> {
    const opening = this.open()
    silence(opening)
    await before?.result?.catch(() => {})
    try {
      await opening
    } catch (error) {
      return this.#failed(run, error)
    }
    return this.#begin(run, task)
  }

  #begin(run: LiveRun, task: Task<C>): Promise<RunResult> {
    if (this.#scope.keepers === undefined && task.decisions === undefined) {
      try {
        return this.#enter(run, task, undefined)
      } catch (error) {
        return this.#failed(run, error)
      }
    }
    return this.#beginPrepared(run, task)
  }

  async #beginPrepared(run: LiveRun, task: Task<C>): Promise<RunResult> {
    let entered: Promise<RunResult>
    try {
      const resume = await prepare(task, this.#scope, (reason) => run.abort(reason))
      try {
        entered = this.#enter(run, task, resume)
      } catch (error) {
        await giveBack(this.#scope)
        throw error
      }
    } catch (error) {
      return this.#failed(run, error)
    }
    return entered
  }

  /** Throws where the run's options are refused; nothing has changed then. */
  #enter(run: LiveRun, task: Task<C>, resume: Resume | undefined): Promise<RunResult> {
    const output = outputOf(task, this.#scope)
    const turn = turnOf(task, this.#scope, this.#host, { resume, events: run.events, output })
    run.begin(turn)
    const { signal } = task.options
    const release = signal === undefined ? undefined : follow(turn, signal)
    const settled = (end: { error?: unknown }) => {
      release?.()
      this.#settle(run, end)
    }
    return output === undefined ? runTurn(turn, settled) : runTurn(turn, settled, (text) => parseOutput(output, text))
  }

  #failed(run: LiveRun, error: unknown): Promise<never> {
    this.#settle(run, { error })
    return Promise.reject(error)
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

  #remember(key: string, run: AgentRun<S>): void {
    this.#keyed ??= new Map()
    this.#keyed.set(key, run)
    if (this.#keyed.size > 100) this.#keyed.delete(this.#keyed.keys().next().value as string)
  }
}

/** Ties a turn to the caller's signal; gives what unties it. */
function follow(turn: TurnScope, signal: AbortSignal): () => void {
  const abort = () => turn.cut('aborted', toAbortError(signal.reason))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}
