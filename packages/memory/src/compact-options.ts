import { layerOptions, type Message, type ModelRef, misconfigured, option } from '@allium/core'
import type { Clearing, ConversationSize } from './compact-view.ts'
import { countTokens } from './count-tokens.ts'
import { summaryPrompt } from './summary.ts'

/** When a conversation is too long: the first of these that it is above. */
export interface CompactTrigger {
  tokens?: number
  /** Without system messages. */
  messages?: number
  /** A part of the option `window`, above 0 and up to 1. */
  fraction?: number
}

export interface CompactOptions<Name extends string = string> {
  /** Clear old tool results, summarise older messages, or the first and then, where that is not enough, the second. @default 'hybrid' */
  strategy?: 'clear' | 'summarise' | 'hybrid' | undefined
  /** @default { tokens: 100_000 } */
  trigger?: CompactTrigger | undefined
  /** Tokens that the model can be sent; for a trigger with a fraction. */
  window?: number | undefined
  /** What stays as it is when the rest is summarised: the newest messages, up to a number or an amount of tokens. @default 20 messages, and at most half of the trigger */
  keep?: { messages?: number; tokens?: number }
  /** Which tool results are cleared. Those of the last answer never are. */
  results?: {
    /** The newest ones, which stay. @default 3 */
    keep?: number
    /** Tools whose results stay, by name. @default none */
    exclude?: readonly string[]
    /** Tokens that clearing must save at the least: it makes a provider's prompt cache begin anew. @default 0 */
    atLeast?: number
    /** What stands in the place of a result. @default says that it is cleared */
    marker?: string
  }
  /** Who summarises: a model, or a name that the agent can resolve. A small one will do. @default the model of the call */
  model?: ModelRef | undefined
  /** What the summarising model is told. @default a prompt that keeps wishes, decisions, facts and open ends */
  prompt?: string | undefined
  /** The most tokens of a summary. @default 4_000 */
  summaryTokens?: number | undefined
  /** Milliseconds for the summarising call. @default 60_000 */
  timeout?: number | undefined
  /** @default a token for 4 characters, and 1,000 for an image or a file */
  countTokens?(message: Readonly<Message>): number
  /** The layers' name, and how the state key begins. @default 'memory:compact' */
  as?: Name | undefined
}

/** The options with their defaults, checked. */
export interface ResolvedCompactOptions<Name extends string> {
  strategy: 'clear' | 'summarise' | 'hybrid'
  limit: ConversationSize
  keepSize: ConversationSize
  clearing: Clearing & { atLeast: number }
  model: ModelRef | undefined
  prompt: string
  summaryTokens: number
  timeout: number
  count(message: Readonly<Message>): number
  as: Name
}

const readOptions = layerOptions<CompactOptions>('memory:compact', {
  strategy: option.oneOf('clear', 'summarise', 'hybrid'),
  trigger: option.shape<CompactTrigger>({
    tokens: option.number({ from: 1 }),
    messages: option.number({ from: 2 }),
    fraction: option.number({ above: 0, to: 1 }),
  }),
  window: option.number({ from: 1 }),
  keep: option.shape<NonNullable<CompactOptions['keep']>>({
    messages: option.number({ from: 1 }),
    tokens: option.number({ from: 1 }),
  }),
  results: option.shape<NonNullable<CompactOptions['results']>>({
    keep: option.number({ from: 0 }),
    exclude: option.list(option.text),
    atLeast: option.number({ from: 0 }),
    marker: option.text,
  }),
  model: option.any,
  prompt: option.text,
  summaryTokens: option.number({ from: 1 }),
  timeout: option.number({ from: 1 }),
  countTokens: option.fn,
})

/** @throws AlliumError `layer.config` */
export function resolveCompactOptions<Name extends string>(
  options: CompactOptions<Name>,
): ResolvedCompactOptions<Name> {
  const {
    strategy = 'hybrid',
    trigger = { tokens: 100_000 },
    window,
    keep = {},
    results = {},
    model,
    prompt = summaryPrompt,
    summaryTokens = 4000,
    timeout = 60_000,
    countTokens: count = countTokens,
    as = 'memory:compact' as Name,
  } = readOptions(options)
  const fail = (what: string): never => {
    throw misconfigured(as, what)
  }
  const { tokens, messages, fraction } = trigger
  if (tokens === undefined && messages === undefined && fraction === undefined)
    fail('needs a trigger: { tokens }, { messages } or { fraction } of the window.')
  if (fraction !== undefined && window === undefined)
    fail('has trigger.fraction, but cannot know of what: give window, the tokens that the model can be sent.')
  const unlimited = Number.POSITIVE_INFINITY
  const limit = {
    messages: messages ?? unlimited,
    tokens: Math.min(tokens ?? unlimited, fraction === undefined ? unlimited : fraction * (window as number)),
  }
  const keepSize = {
    messages: keep.messages ?? (keep.tokens === undefined ? Math.min(20, Math.floor(limit.messages / 2)) : unlimited),
    tokens: keep.tokens ?? limit.tokens / 2,
  }
  for (const unit of ['messages', 'tokens'] as const) {
    if (keep[unit] !== undefined && keep[unit] >= limit[unit])
      fail(`would keep ${keep[unit]} ${unit}, and begins at ${limit[unit]}: keep fewer.`)
  }
  const { keep: newest = 3, exclude = [], atLeast = 0, marker = clearedMarker } = results
  const clearing = { keep: newest, exclude, atLeast, marker }
  return { strategy, limit, keepSize, clearing, model, prompt, summaryTokens, timeout, count, as }
}

const clearedMarker = '[This result was cleared to save room. Call the tool again if you need it.]'
