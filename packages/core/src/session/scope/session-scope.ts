import type { AgentScope } from '../../agent/scope/agent-scope.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import { pendingParts } from '../../messages/calls.ts'
import { checkHistory } from '../../messages/check-messages.ts'
import { History } from '../../messages/history.ts'
import { cloneJson } from '../../messages/json.ts'
import type { Message, ToolCallPart } from '../../messages/message.ts'
import type { AroundRun, AroundStep, FindTurn } from '../../ports/around.ts'
import { Capabilities } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import { isDirect, type Journal } from '../../ports/journal.ts'
import type { SessionKey, StoredTurn } from '../../ports/session-store.ts'
import { ownerOf, tenantOf } from '../../ports/tenant.ts'
import type { PendingCall, Snapshot, Suspension } from '../../state/snapshot.ts'
import { StateStore } from '../../state/state-store.ts'
import { checkSuspension, pendingCalls } from '../../state/suspension.ts'
import type { ParentCall, RunningTurn } from './parent-call.ts'
import { historyRollback, markInterrupted, maxSavepoints, Savepoints } from './savepoints.ts'

/** The functions that a session layer may register, by the name of the function that registers it. */
export interface Registered {
  aroundRun: AroundRun
  aroundStep: AroundStep
  provideTurns: FindTurn
}

/** Shared by all sessions, because most of them never replace it. */
const nothing = /* @__PURE__ */ Object.freeze({})

/** One conversation: its history, its state and its running turn. */
export class SessionScope {
  readonly history = new History()
  /** The number of turns that have ended. A suspended turn keeps its number when it resumes. */
  turnCount = 0
  /** The suspended turn, if there is one. */
  suspension: Suspension | undefined
  /** The functions that session layers registered while the session opened, outermost first, and whether one stores it. */
  registered: { [V in keyof Registered]?: Registered[V][] } & { isStored?: boolean | undefined } = nothing
  /** The number of messages at the start of the history that are stored unchanged. */
  get stored(): number {
    return this.#stored
  }
  /** The clock of the run, or of the last one. */
  clock: Clock
  /** Whether session hooks are running before their next(). */
  opening = false
  /** The running turn. */
  turn: RunningTurn | undefined
  #stored = 0
  #state: StateStore | undefined
  #capabilities: Capabilities | undefined
  #turnPrefix: string | undefined
  #callIds: Set<string> | undefined
  #runCount = 0
  #savepoints: Savepoints | undefined
  #owner: string | null | undefined
  #key: SessionKey | undefined
  #once: Map<string, unknown> | undefined
  /** The results of `ctx.once()` of the turn that has ended. */
  #onceEnded: Map<string, unknown> | undefined
  /** Restores the session to the start of the last run. Set if the run has wrappers. */
  #rollback: (() => void) | undefined
  #usedApprovals: Set<string> | undefined

  constructor(
    readonly agent: AgentScope,
    readonly id: string,
    readonly principal: unknown,
    readonly context: unknown,
    readonly metadata: Record<string, unknown> = {},
    /** Whether the id is unique to this session, so that turn ids start with it. */
    readonly isAnonymous: boolean,
    /** The tool call that runs this session as a sub-agent's. */
    readonly parent?: ParentCall<SessionScope>,
  ) {
    this.clock = agent.setup.clock
    if (isAnonymous) this.#turnPrefix = id
  }

  get state(): StateStore {
    return (this.#state ??= new StateStore(this.agent.fields, this))
  }
  get capabilities(): Capabilities {
    return (this.#capabilities ??= new Capabilities(this.agent.capabilities))
  }

  /** The key that it is stored under. */
  get key(): SessionKey {
    const { principal, owner = '', id: sessionId } = this
    return (this.#key ??= { tenant: tenantOf(principal) ?? '', owner, agent: this.agent.sessionNames[0], sessionId })
  }

  /** The owner of the session. */
  get owner(): string | undefined {
    if (this.#owner === undefined) this.#owner = this.ownerBy(this.principal) ?? null
    return this.#owner ?? undefined
  }
  /** Returns a session's owner for a principal: the agent's `owner` option, or the parent agent's if this is a sub-agent. */
  get ownerBy(): (principal: unknown) => string | undefined {
    return this.agent.setup.owner ?? (this.parent === undefined ? ownerOf : this.parent.$turn.session.ownerBy)
  }

  /** The agent's journal, or the parent agent's if this is a sub-agent. Recorded steps are not paid for again. */
  get journal(): Journal {
    const { journal } = this.agent.setup
    return isDirect(journal) && this.parent !== undefined ? this.parent.$turn.journal : journal
  }

  /** The session of the agent `levels` above this one. Used for layers that a sub-agent inherited. */
  ancestor(levels: number): SessionScope {
    let session: SessionScope = this
    for (; levels > 0 && session.parent !== undefined; levels--) session = session.parent.$turn.session
    return session
  }

  /** The id of the next run. */
  get comingTurnId(): string {
    this.#turnPrefix ??= this.agent.setup.ids()
    return `${this.#turnPrefix}:${this.#runCount}`
  }
  /** @param given the id that the run was given, if any */
  nextTurnId(given?: string): string {
    const id = given ?? this.comingTurnId
    this.#runCount++
    return id
  }

  /** Ids of the tool calls in the history. A provider that counts from 0 in each answer would repeat them. */
  get callIds(): Set<string> {
    return (this.#callIds ??= new Set(callIdsIn(this.history.items)))
  }

  /** @throws AlliumError `message.invalid` if an input contains a call id that is in the history already */
  checkCallIds(input: readonly Message[]): void {
    for (const callId of callIdsIn(input))
      if (this.callIds.has(callId))
        throw new AlliumError(
          'message.invalid',
          `The input has a tool call with the id ${describe(callId)}, which the history already has. Use another id.`,
        )
  }
  /** Adds the call ids of an input that entered the history. */
  addCallIds(input: readonly Message[]): void {
    for (const callId of callIdsIn(input)) this.callIds.add(callId)
  }

  /** Results of `ctx.once()` in the running or suspended turn. */
  get once(): Map<string, unknown> {
    return (this.#once ??= new Map())
  }
  get usedApprovals(): Set<string> {
    return (this.#usedApprovals ??= new Set())
  }
  /** The pending calls, without those that another agent with the same history suspended. */
  get ownPending(): ToolCallPart[] {
    return pendingParts(this.history.items).filter(({ callId }) => this.isOwnCall(callId))
  }
  /** Whether this agent suspended a call, according to its record. */
  isOwnCall(callId: string): boolean {
    const record = this.suspension?.calls[callId]
    return record === undefined || this.agent.isNamed(record.agent)
  }
  get pending(): PendingCall[] {
    const calls = this.ownPending
    const open = this.agent.setup.approvals.canApprove === undefined
    return calls.length === 0 ? [] : pendingCalls(calls, this.suspension, open)
  }

  /** Starts a run. Discards suspended calls, unless the run resumes them. */
  beginRun(resumes: boolean): void {
    if (this.registered.aroundRun !== undefined) this.#rollback = this.#captureRollback()
    this.history.watch()
    if (!resumes) this.#discardSuspended()
    this.#onceEnded = undefined
  }

  #discardSuspended(): void {
    this.history.closePending('Not approved.')
    this.history.closeAwaited()
    if (this.suspension !== undefined) this.endTurn(this.suspension.turnId)
  }

  /** Ends the turn that ran, or discards it. */
  endTurn(turnId: string): void {
    this.suspension = undefined
    this.#onceEnded = this.#once
    this.#once = undefined
    this.turnCount++
    const { turnCount } = this
    this.#savepoints ??= new Savepoints()
    this.#savepoints.add({ turnId, turnCount, length: this.history.items.length }, this.#state?.snapshot())
  }

  #captureRollback(): () => void {
    const { turnCount, suspension } = this
    const [stored, once, state] = [this.#stored, this.#once, this.state.snapshot()]
    const savepoints = this.#savepoints?.copy()
    const history = historyRollback(this.history)
    return () => {
      this.turnCount = turnCount
      this.suspension = suspension
      this.#stored = stored
      this.#savepoints = savepoints
      this.#callIds = undefined
      this.#once = new Map([...(once ?? []), ...(this.#once ?? [])])
      this.state.rollback(state)
      history()
    }
  }

  /** The turn has been stored. */
  markStored({ from, messages }: StoredTurn): void {
    this.#stored = from + messages.length
    this.#rollback = undefined
  }

  /**
   * The run could not be stored. It is rolled back, so that the next run leaves no gap in the store. If it had an
   * effect (`stays`), it remains and is stored with the next run. Results of `once` and used approvals remain in both
   * cases.
   */
  onNotStored(stays: boolean): void {
    this.#once = new Map([...(this.#onceEnded ?? []), ...(this.#once ?? [])])
    if (stays) this.#stored = Math.min(this.#stored, markInterrupted(this.history, this.suspension === undefined))
    else this.#rollback?.()
    this.#rollback = undefined
  }

  /** Whether this process still has a savepoint of the turn. */
  knowsTurn(turnId: string): boolean {
    return this.#savepoints?.at(turnId) !== undefined
  }

  /** Restores the session to a snapshot taken after a turn. Returns a function that undoes it. */
  rewind(snapshot: Snapshot, turnId: string): () => void {
    const rollback = this.#captureRollback()
    const savepoints = this.#savepoints?.copy(turnId)
    this.restore(snapshot)
    this.#savepoints = savepoints
    return rollback
  }

  /** @throws AlliumError `session.unknown_turn` */
  snapshotAt(turnId: string | undefined): Snapshot {
    const { items } = this.history
    if (turnId === undefined)
      return { history: items, state: this.state.ofSession(this.state.snapshot()), turnCount: this.turnCount }
    const savepoint = this.#savepoints?.at(turnId)
    if (savepoint === undefined)
      throw new AlliumError(
        'session.unknown_turn',
        `The session "${this.id}" has no completed turn ${describe(turnId)}. Without a store, a session keeps its last ${maxSavepoints} turns.`,
      )
    const { state, length, turnCount } = savepoint
    return { history: items.slice(0, length), state: this.state.ofSession(state), turnCount }
  }

  /** Returns everything that outlives the process, as copies. The history starts at `from`. */
  snapshot(from = 0): Snapshot {
    const { suspension, turnCount } = this
    const [history, state] = [this.history.since(from), this.state.persistent()]
    const snapshot: Snapshot = { history, state, turnCount, runCount: this.#runCount }
    if (suspension !== undefined) snapshot.suspension = cloneJson(suspension)
    const { once, usedApprovals } = this
    if (once.size > 0) snapshot.once = Object.fromEntries([...once].map(([key, value]) => [key, copyable(value)]))
    if (usedApprovals.size > 0) snapshot.usedApprovals = [...usedApprovals]
    return snapshot
  }

  /** @param stored whether it comes from the session's store */
  restore(
    { history, state, turnCount, runCount, suspension, once = {}, usedApprovals = [] }: Snapshot,
    stored = false,
  ): void {
    checkHistory(history)
    checkSuspension(suspension)
    this.state.checkRestored(state)
    this.history.reset(history)
    this.#stored = stored ? history.length : 0
    this.#savepoints = undefined
    this.#callIds = undefined
    this.state.restore(state)
    this.turnCount = turnCount ?? this.turnCount
    this.#runCount = Math.max(runCount ?? 0, this.#runCount)
    this.suspension = cloneJson(suspension)
    this.#once = new Map(Object.entries(structuredClone(once)))
    for (const used of usedApprovals) this.usedApprovals.add(used)
  }

  /** A reducer failed. Fails the turn, even if the layer swallows the error. */
  failed(error: unknown): void {
    this.turn?.lifecycle.fail(error)
  }

  /** Reports an error to observers: a write of an abandoned layer failed, or something failed after its run was aborted. */
  report(error: unknown, event = 'state'): void {
    this.agent.report(error, event)
  }

  undeclared(key: string): void {
    this.agent.warnOnce(
      `state:${key}`,
      `The state key "${key}" is not declared by any layer, so it is lost after this run. Declare it in "state".`,
    )
  }
}

function callIdsIn(messages: readonly Message[]): string[] {
  const ids: string[] = []
  for (const { content } of messages)
    if (typeof content !== 'string') for (const part of content) if (part.type === 'tool-call') ids.push(part.callId)
  return ids
}

/** Returns a copy of a result of `ctx.once()`, or null if it cannot be copied. It matters more that it ran. */
function copyable(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return null
  }
}
