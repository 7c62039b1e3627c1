import type { FileView } from '@allium/server/inspect'
import type { AnswerItem } from '../store/answer.ts'
import { filesOf, isFile, partsOf, textOf } from '../store/content.ts'
import { copied, withCopiedTurns } from '../store/copied-turns.ts'
import { messagesOf } from '../store/request-messages.ts'
import type { Conversation, StoredMessage, StoredPart, StoredTurn, Tokens } from '../store/sessions.ts'
import type { Turn } from '../store/trace.ts'
import { costsOf } from '../store/usage.ts'

/** A turn as the chat shows it. */
export interface ChatTurn {
  turnId: string
  agent: string | undefined
  /** The turn before it in the session, from which a fork starts. */
  previous: string | undefined
  /** Undefined for a turn that resumes another one. */
  input: string | undefined
  /** The images and files of the input. */
  files: readonly FileView[]
  answer: readonly AnswerItem[]
  status: string
  reason: string | undefined
  /** Milliseconds. */
  duration: number | undefined
  usage: Tokens | undefined
  /** The cost in USD. */
  usd: number | undefined
  isStored: boolean
  live: Turn | undefined
}

/** Joins the stored turns and the live ones. A stored turn that has ended replaces the live one. */
export function chatTurns(conversation: Conversation, live: readonly Turn[]): ChatTurn[] {
  const stored = withCopiedTurns(conversation.turns)
  const costs = costsOf(conversation)
  const byId = new Map(live.map((turn) => [turn.turnId, turn]))
  const results = new Map(stored.flatMap(({ messages }) => messages.flatMap(partsOf)).flatMap(resultEntry))
  const result = stored.map((turn): ChatTurn => {
    const live = byId.get(turn.turnId)
    const base =
      turn.endedAt === undefined && live !== undefined ? fromLive(live, true) : fromStored(turn, results, costs)
    const status = live?.status === 'interrupted' ? live.status : base.status
    const input = base.input ?? inputOf(turn)
    return { ...base, status, input, files: inputFiles(turn), usd: live?.usd || base.usd, live }
  })
  const ids = new Set(stored.map(({ turnId }) => turnId))
  for (const [index, turn] of live.entries())
    if (!ids.has(turn.turnId) && !('path' in (turn.events[0]?.event ?? {})))
      result.push(fromLive(turn, (live[index - 1]?.handedOffTo ?? '') === turn.info?.agent))
  const main = result.filter(({ status }) => status !== 'closed' || result.length === 1)
  return main.map((turn, index) => ({ ...turn, previous: main[index - 1]?.turnId }))
}

type Results = ReadonlyMap<string | undefined, StoredPart>

function resultEntry(part: StoredPart): [string | undefined, StoredPart][] {
  return part.type === 'tool-result' ? [[part.callId, part]] : []
}

function fromStored(turn: StoredTurn, results: Results, costs: ReadonlyMap<string, number>): ChatTurn {
  const { turnId, agent, status, reason, startedAt, endedAt, usage } = turn
  const ran = endedAt !== undefined && status !== copied
  return {
    turnId,
    agent,
    previous: undefined,
    input: turn.resumes === undefined ? inputOf(turn) : undefined,
    files: [],
    answer: itemsOf(turn, results),
    status,
    reason,
    duration: ran ? endedAt - startedAt : undefined,
    usage: ran ? usage : undefined,
    usd: ran ? costs.get(turnId) : undefined,
    isStored: ran,
    live: undefined,
  }
}

/** @param continues after a handoff, without an input of its own */
function fromLive(turn: Turn, continues: boolean): ChatTurn {
  const { turnId, answer, status, reason, resumes, usage, usd, roots } = turn
  const hasInput = !continues && resumes === undefined && turn.info?.resumed !== true
  const message = hasInput ? firstInput(turn) : undefined
  const [input, files] = message === undefined ? [undefined, []] : [textOf(message), filesOf(message)]
  const facts = { turnId, agent: turn.info?.agent, answer, status, reason, usage, usd, duration: roots[0]?.duration }
  return { ...facts, previous: undefined, input, files, isStored: false, live: turn }
}

/** Returns the last message of the user in the first request of a turn. */
function firstInput({ requests }: Turn): StoredMessage | undefined {
  const message = requests.length === 0 ? undefined : messagesOf(requests, 0).findLast(({ role }) => role === 'user')
  return message as StoredMessage | undefined
}

function inputOf(turn: StoredTurn): string | undefined {
  const inputs = inputsOf(turn)
  return inputs.length === 0 ? undefined : inputs.map(textOf).join('\n')
}

function inputFiles(turn: StoredTurn): FileView[] {
  return inputsOf(turn).flatMap(filesOf)
}

/** Returns the messages that began a turn. A turn that resumes another one has none. */
function inputsOf({ messages, resumes }: StoredTurn): StoredMessage[] {
  if (resumes !== undefined) return []
  const first = messages.slice(0, messages.findIndex(({ role }) => role === 'assistant') + 1 || undefined)
  return first.filter(({ role, steer }) => role === 'user' && steer === undefined)
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
      else if (isFile(part)) items.push({ kind: 'file', file: part })
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
