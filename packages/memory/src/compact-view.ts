import { digestOf, type Message, type ToolResultPart } from '@allium/core'
import { messageUnits } from './message-units.ts'

type Conversation = readonly Readonly<Message>[]

/** What has been compacted of a conversation. Numbers count its messages without system messages, and its tool results. */
export interface CompactView {
  /** The messages, from the first one on, that the summary stands for. */
  covered: number
  summary: string
  /** The input among them that is sent as it is: the newest one when the summary was made. */
  input: { from: number; to: number }
  /** The tool results, from the first one on, that are cleared; those of excluded tools do not count. */
  cleared: number
  /** The messages that the digest is of: a conversation that is another one there begins anew. */
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

/** How long a conversation is; messages are counted without system messages. */
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

/** The view, if the conversation still begins with what it was made of; else nothing is compacted. */
export async function currentView(conversation: Conversation, view: CompactView): Promise<CompactView> {
  if (view.seen === 0) return emptyView
  const isSame = view.seen <= conversation.length && (await digestOf(conversation.slice(0, view.seen))) === view.digest
  return isSame ? view : emptyView
}

export async function withDigest(conversation: Conversation, view: CompactView): Promise<CompactView> {
  return { ...view, digest: await digestOf(conversation.slice(0, view.seen)) }
}

/** Which tool results are cleared, and what stands in their place. */
export interface Clearing {
  keep: number
  exclude: readonly string[]
  marker: string
}

/** Clears all results but the newest, and those of the last answer, which the model has not read yet. */
export function clearResults(conversation: Conversation, view: CompactView, { keep, exclude }: Clearing): CompactView {
  const lastUnitLength = (messageUnits(conversation as Message[]).at(-1) ?? []).length
  const resultIndexes = conversation.flatMap((message, at) => resultsOf(message, exclude).map(() => at))
  const unread = resultIndexes.filter((at) => at >= conversation.length - lastUnitLength).length
  const clearedCount = Math.max(view.cleared, resultIndexes.length - Math.max(keep, unread))
  if (clearedCount <= view.cleared) return view
  return { ...view, cleared: clearedCount, seen: Math.max(view.seen, (resultIndexes[clearedCount - 1] as number) + 1) }
}

/** The same messages, with the marker where a result is cleared. */
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

/** How many messages can go so that the rest fits: an answer and its results stand or go together, the last ones stay. */
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

/** The newest input, the last message of a user and those right before it, as far as it stands before a place. */
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
