import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import { checkHistory } from '../../messages/check-messages.ts'
import { History } from '../../messages/history.ts'
import { cloneJson } from '../../messages/json.ts'
import type { Message, ToolCallPart } from '../../messages/message.ts'
import { Capabilities } from '../../seams/capability.ts'
import { isDirect, type Journal } from '../../seams/journal.ts'
import type { SessionKeeper, SessionKey } from '../../seams/session-store.ts'
import { ownerOf, tenantOf } from '../../seams/tenant.ts'
import type { PendingCall, Snapshot, Suspension } from '../../state/snapshot.ts'
import { StateStore } from '../../state/state-store.ts'
import type { AgentScope } from '../agent/agent-scope.ts'
import type { ToolAttempt } from '../tool/context.ts'
import type { Turn } from '../turn/turn.ts'
import { fullRollback, markInterrupted, tailRollback } from './history-rollback.ts'
import { Savepoints } from './savepoints.ts'
import { checkSuspension, pendingCalls } from './suspension.ts'

/** One conversation: its history, its state, and the turn that runs now. */
export class SessionScope {
  readonly history = new History()
  /** Turns that have ended; a turn that waits goes on with its number. */
  turnCount = 0
  /** The turn that waits for a decision, if one does. */
  suspension: Suspension | undefined
  /** Who stores the session, if somebody does. */
  keepers: SessionKeeper[] | undefined
  /** So many messages of the history are stored as they are. */
  get stored(): number {
    return this.#stored
  }
  /** How many runs and entries have taken it. */
  beginnings = 0
  /** Whether session hooks are on their way in. */
  opening = false
  /** The turn that runs now. */
  turn: Turn | undefined
  #stored = 0
  #state: StateStore | undefined
  #capabilities: Capabilities | undefined
  #metadata: Record<string, unknown> | undefined
  #turnPrefix: string | undefined
  #callIds: Set<string> | undefined
  #runCount = 0
  #savepoints: Savepoints | undefined
  #owner: string | null | undefined
  #key: SessionKey | undefined
  /** The agents that suspended calls whose records name none, by call id. */
  #suspendedBy: Readonly<Record<string, string>> = {}
  #once: Map<string, unknown> | undefined
  /** That of the turn that has ended. */
  #onceEnded: Map<string, unknown> | undefined
  /** Puts the session back to where the last run began, where somebody stores it. */
  #rollback: (() => void) | undefined
  #usedApprovals: Set<string> | undefined

  constructor(
    readonly agent: AgentScope,
    readonly id: string,
    readonly principal: unknown,
    readonly context: unknown,
    metadata: Record<string, unknown> | undefined,
    /** Whether nobody else can use this id: then turn ids begin with it. */
    readonly ownId: boolean,
    /** The call that runs this session as a sub-agent's. */
    readonly parent?: ToolAttempt,
  ) {
    this.#metadata = metadata
    if (ownId) this.#turnPrefix = id
  }

  get state(): StateStore {
    this.#state ??= new StateStore(this.agent.fields, this)
    return this.#state
  }
  get metadata(): Record<string, unknown> {
    this.#metadata ??= {}
    return this.#metadata
  }
  get capabilities(): Capabilities {
    this.#capabilities ??= new Capabilities(this.agent.capabilities)
    return this.#capabilities
  }

  /** Where it is kept. */
  get key(): SessionKey {
    const { principal, owner = '', id: sessionId } = this
    this.#key ??= { tenant: tenantOf(principal) ?? '', owner, agent: this.agent.sessionNames[0], sessionId }
    return this.#key
  }

  /** Whose it is. */
  get owner(): string | undefined {
    if (this.#owner === undefined) this.#owner = this.ownerBy(this.principal) ?? null
    return this.#owner ?? undefined
  }
  /** Whose the sessions of a principal are: as the agent says, or the one that runs it as a sub-agent. */
  get ownerBy(): (principal: unknown) => string | undefined {
    const { owner } = this.agent.setup
    return owner ?? (this.parent === undefined ? ownerOf : this.parent.$turn.session.ownerBy)
  }

  /** That of the agent, or of the one that runs it as a sub-agent: what is recorded there is not paid again. */
  get journal(): Journal {
    const { journal } = this.agent.setup
    return isDirect(journal) && this.parent !== undefined ? this.parent.$turn.journal : journal
  }

  /** The session of the agent so many above this one, whose layer a sub-agent has inherited. */
  ancestor(levels: number): SessionScope {
    let session: SessionScope = this
    for (; levels > 0 && session.parent !== undefined; levels--) session = session.parent.$turn.session
    return session
  }

  /** The id that the next run gets. */
  get comingTurnId(): string {
    this.#turnPrefix ??= this.agent.setup.ids()
    return `${this.#turnPrefix}:${this.#runCount}`
  }
  /** @param given one that the run was given instead */
  nextTurnId(given?: string): string {
    const id = given ?? this.comingTurnId
    this.#runCount++
    return id
  }

  /** Ids of the tool calls in the history: a provider that counts from 0 in each answer would repeat them. */
  get callIds(): Set<string> {
    if (this.#callIds === undefined) {
      this.#callIds = new Set(callIdsIn(this.history.items))
    }
    return this.#callIds
  }

  /** @throws AlliumError `message.invalid` where an input has the id of a call that stands in the history */
  checkCallIds(input: readonly Message[]): void {
    for (const callId of callIdsIn(input))
      if (this.callIds.has(callId))
        throw new AlliumError(
          'message.invalid',
          `The input has a tool call with the id ${describe(callId)}, which the history already has. Use another id.`,
        )
  }
  /** Calls of an input have entered the history. */
  addCallIds(input: readonly Message[]): void {
    for (const callId of callIdsIn(input)) this.callIds.add(callId)
  }

  /** Results of `ctx.once()` in the turn that runs, or waits. */
  get once(): Map<string, unknown> {
    this.#once ??= new Map()
    return this.#once
  }
  get usedApprovals(): Set<string> {
    this.#usedApprovals ??= new Set()
    return this.#usedApprovals
  }
  /** The pending calls, without those that another agent suspended which shares the history. */
  get ownPending(): ToolCallPart[] {
    return this.history.pending().filter(({ callId }) => this.suspenderOf(callId) !== 'other')
  }
  /** Which agent suspended a call, as its record says. A sub-agent's session is part of the call that it runs in. */
  suspenderOf(callId: string): 'own' | 'other' | 'unknown' {
    const name =
      this.suspension?.calls[callId]?.agent ??
      this.#suspendedBy[callId] ??
      this.parent?.$call.requested.suspension?.inner?.agent
    if (name === undefined) return 'unknown'
    return this.agent.isNamed(name) ? 'own' : 'other'
  }
  get pending(): PendingCall[] {
    const calls = this.ownPending
    const open = this.agent.setup.approvals.mayDecide === undefined
    return calls.length === 0 ? [] : pendingCalls(calls, this.suspension, open)
  }

  /** A run begins; what waits, unless it is resumed, is given up. */
  beginRun(resumes: boolean): void {
    if (this.keepers !== undefined) this.#rollback = this.#captureRollback()
    this.history.watch()
    if (!resumes) this.#discardSuspended()
    this.#onceEnded = undefined
  }

  #discardSuspended(): void {
    this.history.closePending('Not approved.')
    this.history.closeAwaited()
    if (this.suspension !== undefined) this.endTurn(this.suspension.turnId)
  }

  /** The turn that ran is over, or given up. */
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
    const history = tailRollback(this.history)
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

  /** The run that has ended is stored, and the history up to a length. */
  markStored(length: number): void {
    this.#stored = length
    this.#rollback = undefined
  }

  /**
   * The run that has ended could not be stored. It goes back, so that the next one leaves no hole in the store; or it stays,
   * where it had an effect, to be stored with the next one. What `once` gave stays in any case, and used approvals.
   */
  onNotStored(stays: boolean): void {
    this.#once = new Map([...(this.#onceEnded ?? []), ...(this.#once ?? [])])
    if (stays) this.#stored = Math.min(this.#stored, markInterrupted(this.history, this.suspension === undefined))
    else this.#rollback?.()
    this.#rollback = undefined
  }

  /** Whether it ended in this process, not too long ago. */
  knowsTurn(turnId: string): boolean {
    return this.#savepoints?.at(turnId) !== undefined
  }

  /** Goes back to what it was after a turn. What it gives puts everything back. */
  rewind(snapshot: Snapshot, turnId: string): () => void {
    const rollback = fullRollback(this.history, this.#captureRollback())
    const savepoints = this.#savepoints?.until(turnId)
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
        `The session "${this.id}" has no completed turn ${describe(turnId)}. It may be suspended or rewound. A session that is not stored keeps the last ${Savepoints.most} turns of this process.`,
      )
    const { state, length, turnCount } = savepoint
    return { history: items.slice(0, length), state: this.state.ofSession(state), turnCount }
  }

  /** All that outlives the process, as copies; of the history the part from an index on. */
  snapshot(from = 0): Snapshot {
    const { suspension, turnCount } = this
    const runCount = this.#runCount
    const snapshot: Snapshot = {
      history: this.history.since(from),
      state: this.state.persistent(),
      turnCount,
      runCount,
    }
    if (suspension !== undefined) snapshot.suspension = cloneJson(suspension)
    const { once, usedApprovals } = this
    if (once.size > 0) snapshot.once = Object.fromEntries([...once].map(([key, value]) => [key, copyable(value)]))
    if (usedApprovals.size > 0) snapshot.usedApprovals = [...usedApprovals]
    return snapshot
  }

  /**
   * @param stored whether it comes from who stores the session
   * @param askedBy the agents that suspended calls whose records name none, by call id
   */
  restore(
    { history, state, turnCount, runCount, suspension, once = {}, usedApprovals = [] }: Snapshot,
    stored = false,
    askedBy: Readonly<Record<string, string>> = {},
  ): void {
    checkHistory(history)
    checkSuspension(suspension)
    this.state.checkRestored(state)
    this.state.checkRestored(suspension?.state ?? {})
    const whole = this.#rollback === undefined ? undefined : fullRollback(this.history, this.#rollback)
    this.history.reset(history)
    this.#rollback = whole
    this.#stored = stored ? history.length : 0
    this.#savepoints = undefined
    this.#callIds = undefined
    this.state.restore(state)
    this.turnCount = turnCount ?? this.turnCount
    this.#runCount = Math.max(runCount ?? 0, this.#runCount)
    this.suspension = cloneJson(suspension)
    this.#suspendedBy = askedBy
    this.#once = new Map(Object.entries(structuredClone(once)))
    for (const used of usedApprovals) this.usedApprovals.add(used)
  }

  /** A reducer failed: so does the turn, even if the layer swallows it. */
  failed(error: unknown): void {
    this.turn?.lifecycle.fail(error)
  }

  /** A layer that was left has failed to write, or something failed after its run was aborted: observers are told. */
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

/** A copy of what `ctx.once()` gave; that it ran counts more than a result that cannot be copied. */
function copyable(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return null
  }
}
