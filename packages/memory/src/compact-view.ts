import { digestOf, type Message, type ToolResultPart } from '@allium/core'
import { unitsOf } from './units.ts'

type Talk = readonly Readonly<Message>[]

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

export const nothingCompacted: CompactView = {
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

export function sizeOf(messages: Talk, count: (message: Readonly<Message>) => number): ConversationSize {
  const size = { messages: 0, tokens: 0 }
  for (const message of messages) {
    if (message.role !== 'system') size.messages++
    size.tokens += count(message)
  }
  return size
}

/** The view, if the conversation still begins with what it was made of; else nothing is compacted. */
export async function viewOf(talk: Talk, view: CompactView): Promise<CompactView> {
  if (view.seen === 0) return nothingCompacted
  const isSame = view.seen <= talk.length && (await digestOf(talk.slice(0, view.seen))) === view.digest
  return isSame ? view : nothingCompacted
}

export async function sealed(talk: Talk, view: CompactView): Promise<CompactView> {
  return { ...view, digest: await digestOf(talk.slice(0, view.seen)) }
}

/** Which tool results are cleared, and what stands in their place. */
export interface Clearing {
  keep: number
  exclude: readonly string[]
  marker: string
}

/** Clears all results but the newest, and those of the last answer, which the model has not read yet. */
export function cleared(talk: Talk, view: CompactView, { keep, exclude }: Clearing): CompactView {
  const live = (unitsOf(talk as Message[]).at(-1) ?? []).length
  const places = talk.flatMap((message, at) => resultsOf(message, exclude).map(() => at))
  const unread = places.filter((at) => at >= talk.length - live).length
  const upTo = Math.max(view.cleared, places.length - Math.max(keep, unread))
  if (upTo <= view.cleared) return view
  return { ...view, cleared: upTo, seen: Math.max(view.seen, (places[upTo - 1] as number) + 1) }
}

/** The same messages, with the marker where a result is cleared. */
export function withoutCleared(
  talk: Talk,
  view: Pick<CompactView, 'cleared'>,
  { exclude, marker }: Clearing,
): Message[] {
  let left = view.cleared
  return talk.map((message): Message => {
    if (left === 0 || resultsOf(message, exclude).length === 0) return { ...message }
    const content = (message.content as ToolResultPart[]).map((part) => {
      if (!isResult(part, exclude) || left === 0) return part
      left--
      return { ...part, content: marker }
    })
    return { ...message, content }
  })
}

/** How many messages can go so that the rest fits: an answer and its results stand or go together, the last ones stay. */
export function cutAt(talk: Talk, room: ConversationSize, count: (message: Readonly<Message>) => number): number {
  const units = unitsOf(talk as Message[])
  const left = { ...room }
  let kept = 0
  for (const unit of units.reverse()) {
    const { messages, tokens } = sizeOf(unit, count)
    left.messages -= messages
    left.tokens -= tokens
    if (kept > 0 && (left.messages < 0 || left.tokens < 0)) break
    kept += unit.length
  }
  return talk.length - kept
}

/** The newest input, the last message of a user and those right before it, as far as it stands before a place. */
export function inputBefore(talk: Talk, place: number): { from: number; to: number } {
  const to = talk.findLastIndex(({ role }) => role === 'user') + 1
  let from = to
  while (from > 0 && talk[from - 1]?.role === 'user') from--
  return from < place ? { from, to: Math.min(to, place) } : { from: 0, to: 0 }
}

function resultsOf({ role, content }: Readonly<Message>, exclude: readonly string[]): ToolResultPart[] {
  if (role !== 'tool' || typeof content === 'string') return []
  return content.filter((part): part is ToolResultPart => isResult(part, exclude))
}

function isResult(part: { type: string; name?: string }, exclude: readonly string[]): boolean {
  return part.type === 'tool-result' && !exclude.includes(part.name ?? '')
}
