import type {
  ChangeRecord,
  CloseRecord,
  EventRecord,
  InspectRecord,
  OpenRecord,
  RequestRecord,
  ResponseRecord,
  StateRecord,
  TurnRecord,
} from '@allium/server/inspect'
import { type AnswerItem, addToAnswer } from './answer.ts'
import type { Tokens } from './sessions.ts'

/** One pass of a call through a layer, with its records so far. */
export interface Span extends Omit<OpenRecord, 'type'>, Partial<Omit<CloseRecord, 'type' | 'id' | 'turnId'>> {
  children: Span[]
  depth: number
  /** The index of its request in the turn. */
  request?: number
  response?: ResponseRecord
  usd?: number
  changes?: ChangeRecord[]
  writes?: StateRecord[]
}

/** A turn, as its records say. */
export interface Turn {
  turnId: string
  sessionId: string
  tenant: string
  owner: string
  info?: TurnRecord
  spans: Map<number, Span>
  roots: Span[]
  requests: RequestRecord[]
  state: StateRecord[]
  events: EventRecord[]
  /** The streamed answer, as a reader of the run has it. */
  answer: AnswerItem[]
  status: string
  reason?: string
  /** The usage at the end of the turn; before that, of the answers so far. */
  usage?: Tokens
  usd: number
  /** The errors that tools threw, by call. */
  errors: Map<string | undefined, string>
  resumes?: string
  /** The agent that it handed the session off to. */
  handedOffTo?: string
}

/** The reason with which a server that closes aborts its runs. */
const stoppedByReload = 'The run was aborted: the server stops'

/** Most stored events and state changes of a turn. */
const maxEvents = 20_000

/** All turns of which records arrived, by id, oldest first. */
export class Trace {
  readonly turns = new Map<string, Turn>()
  /** Grows with each record. */
  version = 0
  /** The current turn of a run that was handed off, by the first turn: each agent has a turn, and one run has the events of all. */
  readonly #handedOff = new Map<string, string>()

  add(record: InspectRecord): void {
    this.version++
    const turn = this.#turnOf(record)
    if (turn === undefined) return
    switch (record.type) {
      case 'turn':
        turn.info = record
        break
      case 'open':
        addSpan(turn, record)
        break
      case 'close':
        closeSpan(turn, record)
        break
      case 'event':
        addEvent(turn, record)
        break
      case 'state':
        keep(turn.state, record)
        ;(spanOf(turn, record.id).writes ??= []).push(record)
        break
      case 'request':
        spanOf(turn, record.id).request = turn.requests.push(record) - 1
        break
      case 'response':
        spanOf(turn, record.id).response = record
        turn.usage = added(turn.usage, record.usage)
        break
      case 'cost':
        turn.usd += record.usd
        spanOf(turn, record.id).usd = record.usd
        break
      case 'change':
        ;(spanOf(turn, record.id).changes ??= []).push(record)
        break
    }
  }

  /** Returns the turns of a session, oldest first. */
  ofSession(key: string): Turn[] {
    return [...this.turns.values()].filter((turn) => sessionKey(turn) === key)
  }

  /** Returns the turns with those of the sub-agents that they ran. */
  withSubAgents(turns: readonly Turn[]): Turn[] {
    const ids = new Set(turns.map(({ turnId }) => turnId))
    return [...this.turns.values()].filter(
      (turn) => ids.has(turn.turnId) || (isOfSubAgent(turn) && ids.has(rootOf(turn))),
    )
  }

  /** Marks the running turns as interrupted: their process has ended. */
  interrupt(): void {
    for (const turn of this.turns.values()) if (turn.status === 'running') turn.status = 'interrupted'
  }

  #turnOf(record: InspectRecord): Turn | undefined {
    const known = this.turns.get(record.type === 'event' ? this.#turnIdOf(record) : record.turnId)
    if (known !== undefined) return known
    if (record.type !== 'turn' && record.type !== 'event') return undefined
    const { turnId, sessionId, tenant, owner } = record
    const lists = { spans: new Map(), roots: [], requests: [], state: [], events: [], answer: [], errors: new Map() }
    const turn: Turn = { turnId, sessionId, tenant, owner, ...lists, status: 'running', usd: 0 }
    this.turns.set(turnId, turn)
    return turn
  }

  #turnIdOf({ turnId, event }: EventRecord): string {
    const now = this.#handedOff.get(turnId) ?? turnId
    const own = 'path' in event ? undefined : (event.turnId as string | undefined)
    const to = this.turns.get(now)?.handedOffTo
    if (to === undefined || own === undefined || this.turns.get(own)?.info?.agent !== to) return now
    this.#handedOff.set(turnId, own)
    return own
  }
}

/** Whether an agent runs this turn for a tool call of another agent. */
export function isOfSubAgent({ info }: Turn): boolean {
  return info?.rootTurnId !== undefined && !info.resumed
}

function rootOf({ info, turnId }: Turn): string {
  return info?.rootTurnId ?? turnId
}

/** Identifies a session of any owner. */
export function sessionKey({ tenant, owner, sessionId }: Pick<Turn, 'tenant' | 'owner' | 'sessionId'>): string {
  return JSON.stringify([tenant, owner, sessionId])
}

function addSpan(turn: Turn, { type: _type, ...record }: OpenRecord): void {
  const parent = record.parent === undefined ? undefined : turn.spans.get(record.parent)
  const span: Span = { ...record, children: [], depth: parent === undefined ? 0 : parent.depth + 1 }
  turn.spans.set(record.id, span)
  ;(parent?.children ?? turn.roots).push(span)
}

function closeSpan(turn: Turn, { type: _type, ...record }: CloseRecord): void {
  const span = turn.spans.get(record.id)
  if (span === undefined) return
  Object.assign(span, record)
  if (record.error !== undefined) turn.errors.set(span.callId, record.error)
  // The turn of a sub-agent sends its events with those of the other agent.
  if (span.parent !== undefined || !isOfSubAgent(turn)) return
  turn.status = span.decision === 'failed' || span.decision === 'aborted' ? span.decision : 'completed'
}

/** A record without its span, which was sent before this page opened, changes nothing that is shown. */
function spanOf(turn: Turn, id: number): Partial<Span> {
  return turn.spans.get(id) ?? {}
}

function addEvent(turn: Turn, record: EventRecord): void {
  keep(turn.events, record)
  const { event } = record
  if (!('path' in event)) addToAnswer(turn.answer, event)
  if (event.type === 'turn:start' && !('path' in event)) turn.resumes = event.resumes as string | undefined
  if (event.type === 'tools:handoff' && !('path' in event)) {
    turn.handedOffTo = String(event.to)
    turn.status = 'stopped'
    turn.reason = `handed off to ${event.to}${event.reason === undefined ? '' : `: ${event.reason}`}`
  }
  if (event.type === 'run:error') [turn.status, turn.reason] = ['failed', String(event.message)]
  if (event.type !== 'turn:end' || 'path' in event) return
  turn.reason = event.reason as string | undefined
  turn.status = turn.reason === stoppedByReload ? 'interrupted' : String(event.status)
  // After a handoff, that of the event is of all turns of the run.
  if (record.turnId === turn.turnId) turn.usage = event.usage as Turn['usage']
}

function added(total: Tokens = { inputTokens: 0, outputTokens: 0, calls: 0 }, more: Tokens): Tokens {
  return {
    inputTokens: total.inputTokens + more.inputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    calls: total.calls + more.calls,
    ...(more.cachedInputTokens !== undefined && {
      cachedInputTokens: (total.cachedInputTokens ?? 0) + more.cachedInputTokens,
    }),
  }
}

function keep<T>(list: T[], item: T): void {
  list.push(item)
  if (list.length > maxEvents * 1.1) list.splice(0, list.length - maxEvents)
}
