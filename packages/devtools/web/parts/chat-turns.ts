import type { AnswerItem } from '../store/answer.ts'
import { messagesOf } from '../store/request-messages.ts'
import type { Conversation, StoredMessage, StoredPart, StoredTurn } from '../store/sessions.ts'
import type { Turn } from '../store/trace.ts'

/** A turn as the chat shows it. */
export interface ChatTurn {
  turnId: string
  /** The turn before it in the session, from which a fork starts. */
  previous: string | undefined
  /** Undefined for a turn that resumes another one. */
  input: string | undefined
  answer: readonly AnswerItem[]
  status: string
  reason: string | undefined
  isStored: boolean
  live: Turn | undefined
}

/** Joins the stored turns and the live ones. A stored turn that has ended replaces the live one. */
export function chatTurns(
  { turns: stored }: Conversation,
  live: readonly Turn[],
  inputs: ReadonlyMap<string, string>,
): ChatTurn[] {
  const byId = new Map(live.map((turn) => [turn.turnId, turn]))
  const results = new Map(stored.flatMap(({ messages }) => messages.flatMap(partsOf)).flatMap(resultEntry))
  const result = stored.map((turn): ChatTurn => {
    const live = byId.get(turn.turnId)
    const base = turn.endedAt === undefined && live !== undefined ? fromLive(live, inputs) : fromStored(turn, results)
    const status = live?.status === 'interrupted' ? live.status : base.status
    return { ...base, status, input: base.input ?? inputOf(turn), live }
  })
  const ids = new Set(stored.map(({ turnId }) => turnId))
  for (const turn of live)
    if (!ids.has(turn.turnId) && !('path' in (turn.events[0]?.event ?? {}))) result.push(fromLive(turn, inputs))
  const main = result.filter(({ status }) => status !== 'closed' || result.length === 1)
  return main.map((turn, index) => ({ ...turn, previous: main[index - 1]?.turnId }))
}

type Results = ReadonlyMap<string | undefined, StoredPart>

function resultEntry(part: StoredPart): [string | undefined, StoredPart][] {
  return part.type === 'tool-result' ? [[part.callId, part]] : []
}

function fromStored(turn: StoredTurn, results: Results): ChatTurn {
  const { turnId, status, reason, endedAt } = turn
  return {
    turnId,
    previous: undefined,
    input: turn.resumes === undefined ? inputOf(turn) : undefined,
    answer: itemsOf(turn, results),
    status,
    reason,
    isStored: endedAt !== undefined,
    live: undefined,
  }
}

function fromLive(turn: Turn, inputs: ReadonlyMap<string, string>): ChatTurn {
  const { turnId, answer, status, reason, resumes } = turn
  const input =
    resumes === undefined && turn.info?.resumed !== true ? (inputs.get(turnId) ?? firstInput(turn)) : undefined
  return { turnId, previous: undefined, input, answer, status, reason, isStored: false, live: turn }
}

/** Returns the last message of the user in the first request of a turn. */
function firstInput({ requests }: Turn): string | undefined {
  const message = requests.length === 0 ? undefined : messagesOf(requests, 0).findLast(({ role }) => role === 'user')
  return message === undefined ? undefined : textOf(message as StoredMessage)
}

function inputOf({ messages, resumes }: StoredTurn): string | undefined {
  const users = messages.slice(0, messages.findIndex(({ role }) => role === 'assistant') + 1 || undefined)
  const inputs = users.filter(({ role, steer }) => role === 'user' && steer === undefined)
  return resumes !== undefined || inputs.length === 0 ? undefined : inputs.map(textOf).join('\n')
}

/** @param results the results of all turns: that of a pending call is in a later one */
function itemsOf({ messages, skipped }: StoredTurn, results: Results): AnswerItem[] {
  const items: AnswerItem[] = []
  if (skipped > 0) items.push({ kind: 'text', text: `(${skipped} earlier messages of this turn are not shown)` })
  for (const message of messages) {
    if (message.role === 'user' && message.steer !== undefined)
      items.push({ kind: 'steer', id: textOf(message), outcome: 'delivered' })
    if (message.role !== 'assistant') continue
    for (const part of partsOf(message)) {
      if (part.type === 'text' || part.type === 'reasoning') items.push({ kind: part.type, text: part.text ?? '' })
      else if (part.type === 'tool-call') items.push(toolItem(part, results.get(part.callId)))
      else items.push({ kind: 'text', text: `[${part.type} ${part.mediaType ?? ''}]` })
    }
  }
  return items
}

function toolItem({ callId = '', name = '', args }: StoredPart, result: StoredPart | undefined): AnswerItem {
  const outcome = result === undefined ? {} : { result: contentText(result.content) }
  return {
    kind: 'tool',
    callId,
    name,
    args,
    ...outcome,
    status: result === undefined ? 'pending' : result.isError ? 'error' : 'ok',
  }
}

function contentText(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

function partsOf({ content }: StoredMessage): readonly StoredPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function textOf(message: StoredMessage): string {
  return partsOf(message)
    .map(({ type, text, mediaType }) => (type === 'text' ? text : `[${type} ${mediaType ?? ''}]`))
    .join('\n')
}
