import type { Message, ToolResultPart } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import { messageUnits } from './message-units.ts'

type Conversation = readonly Readonly<Message>[]

/** What has been compacted in a conversation. Message numbers do not count system messages; result numbers count tool results. */
export interface CompactView {
  /** How many messages, from the first, the summary covers. */
  covered: number
  summary: string
  /** The input among the covered messages that is still sent: the newest one when the summary was made. */
  input: { from: number; to: number }
  /** How many tool results, from the first, are cleared; those of excluded tools do not count. */
  cleared: number
  /** How many messages the digest covers. If the conversation differs there, compaction starts over. */
  seen: number
  digest: string
}

export const emptyView: CompactView = {
  covered: 0,
  summary: '',
  input: { from: 0, to: 0 },
  cleared: 0,
  seen: 0,
  digest: '',
}

/** The size of a conversation; system messages do not count as messages. */
export interface ConversationSize {
  messages: number
  tokens: number
}

export function sizeOf(messages: Conversation, count: (message: Readonly<Message>) => number): ConversationSize {
  const size = { messages: 0, tokens: 0 }
  for (const message of messages) {
    if (message.role !== 'system') size.messages++
    size.tokens += count(message)
  }
  return size
}

/** Returns the view if the conversation still begins with the messages that it was made from; otherwise the empty view. */
export async function currentView(conversation: Conversation, view: CompactView): Promise<CompactView> {
  if (view.seen === 0) return emptyView
  const isSame = view.seen <= conversation.length && (await digestOf(conversation.slice(0, view.seen))) === view.digest
  return isSame ? view : emptyView
}

export async function withDigest(conversation: Conversation, view: CompactView): Promise<CompactView> {
  return { ...view, digest: await digestOf(conversation.slice(0, view.seen)) }
}

/** Which tool results are cleared, and the text that replaces them. */
export interface Clearing {
  keep: number
  exclude: readonly string[]
  marker: string
}

/** Clears all results except the newest, and except those of the last answer, which the model has not read yet. */
export function clearResults(conversation: Conversation, view: CompactView, { keep, exclude }: Clearing): CompactView {
  const lastUnitLength = (messageUnits(conversation as Message[]).at(-1) ?? []).length
  const resultIndexes = conversation.flatMap((message, at) => resultsOf(message, exclude).map(() => at))
  const unread = resultIndexes.filter((at) => at >= conversation.length - lastUnitLength).length
  const clearedCount = Math.max(view.cleared, resultIndexes.length - Math.max(keep, unread))
  if (clearedCount <= view.cleared) return view
  return { ...view, cleared: clearedCount, seen: Math.max(view.seen, (resultIndexes[clearedCount - 1] as number) + 1) }
}

/** Returns the messages with the marker in place of each cleared result. */
export function replaceClearedResults(
  conversation: Conversation,
  view: Pick<CompactView, 'cleared'>,
  { exclude, marker }: Clearing,
): Message[] {
  let remaining = view.cleared
  return conversation.map((message): Message => {
    if (remaining === 0 || resultsOf(message, exclude).length === 0) return { ...message }
    const content = (message.content as ToolResultPart[]).map((part) => {
      if (!isResult(part, exclude) || remaining === 0) return part
      remaining--
      return { ...part, content: marker }
    })
    return { ...message, content }
  })
}

/** Returns how many messages must be dropped so that the rest fits. An answer and its results are dropped together; the last ones stay. */
export function cutIndex(
  conversation: Conversation,
  room: ConversationSize,
  count: (message: Readonly<Message>) => number,
): number {
  const units = messageUnits(conversation as Message[])
  const remaining = { ...room }
  let keptCount = 0
  for (const unit of units.reverse()) {
    const { messages, tokens } = sizeOf(unit, count)
    remaining.messages -= messages
    remaining.tokens -= tokens
    if (keptCount > 0 && (remaining.messages < 0 || remaining.tokens < 0)) break
    keptCount += unit.length
  }
  return conversation.length - keptCount
}

/** Returns the range of the newest input before `limit`: the last user message and the user messages directly before it. */
export function newestInputBefore(conversation: Conversation, limit: number): { from: number; to: number } {
  const to = conversation.findLastIndex(({ role }) => role === 'user') + 1
  let from = to
  while (from > 0 && conversation[from - 1]?.role === 'user') from--
  return from < limit ? { from, to: Math.min(to, limit) } : { from: 0, to: 0 }
}

function resultsOf({ role, content }: Readonly<Message>, exclude: readonly string[]): ToolResultPart[] {
  if (role !== 'tool' || typeof content === 'string') return []
  return content.filter((part): part is ToolResultPart => isResult(part, exclude))
}

function isResult(part: { type: string; name?: string }, exclude: readonly string[]): boolean {
  return part.type === 'tool-result' && !exclude.includes(part.name ?? '')
}
