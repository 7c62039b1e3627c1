import { AlliumError } from '../errors/allium-error.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import type { Input } from '../messages/message.ts'
import type { OutputOf, OutputOption } from '../output/option.ts'
import { randomIds } from '../ports/ids.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { SessionKey } from '../ports/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { Decision } from '../tool/approval.ts'
import type { CallTypes } from '../tool/call-record.ts'
import { AcceptedRuns } from './accepted-runs.ts'
import type { AgentRun } from './agent-run.ts'
import { aroundRun } from './around-run.ts'
import { Opening } from './opening.ts'
import type { ForkSessionOptions, ResumeOptions, RunOptions } from './options.ts'
import { SessionScope } from './scope/session-scope.ts'
import type { SessionHost } from './session-host.ts'
import { toolsOf } from './task.ts'

const ofCheck = { approver: true } as const
const ofFork: KeysOf<ForkSessionOptions> = { at: true, id: true }
const ofRewind = { to: true } as const

/** One conversation with an agent: its history, its state, and one turn at a time. */
export class Session<S = State, C = RegisteredContext, K extends CallTypes = CallTypes> {
  readonly id: string
  readonly #scope: SessionScope
  readonly #host: SessionHost
  readonly #onBusy: 'reject' | 'queue'
  readonly #opening: Opening
  readonly #runs: AcceptedRuns
  #closing: Promise<void> | undefined

  /** Use `agent.session()` instead. */
  constructor(host: SessionHost, scope: SessionScope, onBusy: 'reject' | 'queue') {
    this.id = scope.id
    this.#host = host
    this.#onBusy = onBusy
    this.#scope = scope
    this.#opening = new Opening(host, scope, this)
    this.#runs = new AcceptedRuns(host, scope, this.#opening, onBusy)
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
    const [scope, checked] = [this.#known(), this.#host.checkPrincipal(principal)]
    const { decidable } = await import('../later.ts')
    return decidable(scope, checked)
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
    const by = approver === undefined ? undefined : this.#host.checkPrincipal(approver)
    const { checkedDecisions } = await import('../later.ts')
    const { tools } = await toolsOf({ options: {}, decisions }, scope)
    return [...(await checkedDecisions(scope, decisions, by, tools)).callIds]
  }

  /** Starts a turn. Pending calls are closed as not approved. Never throws; the run rejects on failure. */
  run<O extends OutputOption | undefined = undefined>(
    input: Input,
    options: RunOptions<C, O> = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>, K> {
    return this.#runs.start({ input, decisions: undefined, options }) as unknown as AgentRun<S, OutputOf<O>, K>
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
    const task = { input: [], decisions: decisions ?? null, options }
    return this.#runs.start(task) as unknown as AgentRun<S, OutputOf<O>, K>
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
    checkOptions(options, ofFork, 'fork()', 'run.options', { 'to turnId': 'The turn is given as { at }.' })
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
    else
      fork.#opening.before = async () => {
        const { snapshotAt } = await import('../later.ts')
        const snapshot = await snapshotAt(this.#scope, at)
        return () => begin(snapshot)
      }
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
    checkOptions(options, ofRewind, 'rewind()', 'run.options', { 'at turnId': 'The turn is given as { to }.' })
    const { to } = options
    this.#runs.checkOpen()
    this.#runs.checkIdle('Await it before rewind().')
    await this.#runs.change(async (run, waits) => {
      const { rewind } = await waits.until(import('../later.ts'))
      await rewind(this.#scope, to, { run, waits, around: aroundRun })
    })
  }

  /** Opens the session's onion. The first run does this automatically. */
  async open(): Promise<void> {
    this.#runs.checkOpen()
    await this.#opening.open()
    this.#runs.startIdleTimer()
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
    this.#runs.checkIdle('Await it before restore().')
    this.#scope.restore(snapshot)
    this.#opening.reached = true
  }

  /** Aborts the current run, even if its turn has not started. Queued runs continue. */
  abort(reason?: unknown): void {
    this.#runs.abort(reason)
  }

  /** Waits for all accepted runs, then runs the rest of every session layer. A second call returns the same promise. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Returns the scope if it has been loaded from the store, so that a stored session is never mistaken for an empty one. */
  #known(): SessionScope {
    const { storageLayer } = this.#host
    const { isAnonymous, agent } = this.#scope
    const isNew = isAnonymous && agent.setup.ids === randomIds
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
    await this.#runs.close()
    await this.#opening.close()
  }
}
