import {
  estimateInputTokens,
  type Message,
  type ModelContext,
  type ResponseFormat,
  type ToolChoice,
  type ToolDef,
} from '@allium/core'
import type { RequestView } from '@allium/core/internal'

/** A request at one place of the onion, with references to the messages of the session. */
export interface SentRequest {
  readonly model: string
  /** The tools, then the messages: the order in which providers build the prompt. */
  readonly items: readonly Item[]
  /** How many of the items are tools. */
  readonly tools: number
  readonly toolChoice: ToolChoice
  readonly responseFormat: ResponseFormat
}

export type Item = ToolDef | Readonly<Message>
type Part = Exclude<Message['content'], string>[number]

/** Returns the request that a layer received. Without a difference in its items, it shares those of the request outside. */
export function requestOf({ model, request }: ModelContext, outside: SentRequest | undefined): SentRequest {
  const { tools, toolChoice, responseFormat } = request
  const items = itemsOf(request, outside?.items)
  return { model, items, tools: tools.length, toolChoice, responseFormat }
}

function itemsOf({ tools, messages }: RequestView, outside: readonly Item[] | undefined): readonly Item[] {
  const items = [...tools, ...messages]
  const isUnchanged = outside?.length === items.length && items.every((item, at) => item === outside[at])
  return isUnchanged ? outside : items
}

/** Returns how many items are equal from the start. */
export function commonItems(a: SentRequest, b: SentRequest): number {
  if (a.items === b.items) return a.items.length
  const length = Math.min(a.items.length, b.items.length)
  for (let at = 0; at < length; at++) if (!sameItem(a.items[at] as Item, b.items[at] as Item)) return at
  return length
}

/** Estimates the tokens of the items in a range. */
export function tokensOf({ items, tools }: SentRequest, from: number, to: number): number {
  if (to <= from) return 0
  return estimateInputTokens({
    tools: items.slice(from, Math.min(to, tools)) as ToolDef[],
    messages: items.slice(Math.max(from, tools), to) as Message[],
  })
}

/** Estimates the tokens that two messages have in common before their texts differ. */
export function commonTextTokens(a: Item | undefined, b: Item | undefined): number {
  if (a === undefined || b === undefined || !isMessage(a) || !isMessage(b) || a.role !== b.role) return 0
  const [textOfA, textOfB] = [leadingText(a), leadingText(b)]
  let chars = 0
  while (chars < textOfA.length && textOfA[chars] === textOfB[chars]) chars++
  return Math.floor(chars / 4)
}

function leadingText({ content }: Readonly<Message>): string {
  if (typeof content === 'string') return content
  const first = content[0]
  return first?.type === 'text' ? first.text : ''
}

/** Whether a provider gets the same for both. Marks for its cache are ignored, because they move with every call. */
export function sameItem(a: Item, b: Item): boolean {
  if (a === b) return true
  if (!isMessage(a) || !isMessage(b)) return !isMessage(a) && !isMessage(b) && equal(sentTool(a), sentTool(b))
  return a.role === b.role && equal(sentContent(a.content), sentContent(b.content))
}

export function isMessage(item: Item): item is Readonly<Message> {
  return 'role' in item
}

function sentTool({ providerOptions, ...tool }: ToolDef): unknown[] {
  return [tool, withoutMarks(providerOptions)]
}

/** A text equals a single part with that text. */
function sentContent(content: Message['content']): unknown[] {
  return typeof content === 'string' ? sentContent([{ type: 'text', text: content }]) : content.map(sentPart)
}

/** Returns the part without the fields that no model gets. */
function sentPart({ providerMetadata, ...part }: Part): unknown[] {
  if (part.type !== 'tool-result') return [part, withoutMarks(providerMetadata)]
  const { flow: _, approval: __, approvalSeal: ___, content, ...result } = part
  return [result, sentContent(content), withoutMarks(providerMetadata)]
}

const cacheMarks: ReadonlySet<string> = new Set(['cacheControl', 'cache_control', 'cachePoint'])

function withoutMarks(metadata: Part['providerMetadata'] = {}): unknown[] {
  return Object.entries(metadata).flatMap(([provider, values]) => {
    const sent = Object.entries(values).filter(([key]) => !cacheMarks.has(key))
    return sent.length === 0 ? [] : [[provider, sent]]
  })
}

/** Compares with the order of keys, because it decides the text that a provider makes of JSON. */
function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof URL || b instanceof URL) return String(a) === String(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array)
    return a.length === b.length && a.every((byte, at) => byte === b[at])
  const [entriesOfA, entriesOfB] = [definedEntries(a), definedEntries(b)]
  return (
    entriesOfA.length === entriesOfB.length &&
    entriesOfA.every(([key, value], at) => key === entriesOfB[at]?.[0] && equal(value, entriesOfB[at][1]))
  )
}

function definedEntries(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, one]) => one !== undefined)
}
