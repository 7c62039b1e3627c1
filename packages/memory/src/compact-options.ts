import { layerOptions, type Message, type ModelRef, misconfigured, option } from '@allium/core'
import type { Clearing, ConversationSize } from './compact-view.ts'
import { countTokens } from './count-tokens.ts'
import { summaryPrompt } from './summary.ts'

/** When a conversation is too long: as soon as one of these is exceeded. */
export interface CompactTrigger {
  tokens?: number
  /** Without system messages. */
  messages?: number
  /** A fraction of the option `contextWindow`, above 0 and up to 1. */
  fraction?: number
}

export interface CompactOptions<Name extends string = string> {
  /** Clear old tool results, summarise older messages, or clear first and summarise if that is not enough. @default 'hybrid' */
  strategy?: 'clear' | 'summarise' | 'hybrid' | undefined
  /** @default { tokens: 100_000 } */
  trigger?: CompactTrigger | undefined
  /** The size of the model's context window in tokens; required for a trigger with a fraction. */
  contextWindow?: number | undefined
  /**
   * What stays unchanged when the rest is summarised: the newest messages, up to a number of messages or tokens. @default 20 messages, and
   * at most half of the trigger
   */
  keep?: { messages?: number; tokens?: number }
  /** Which tool results are cleared. Results of the last answer are never cleared. */
  results?: {
    /** How many of the newest results stay. @default 3 */
    keep?: number
    /** Tools whose results stay, by name. @default none */
    exclude?: readonly string[]
    /** The minimum number of tokens that clearing must save, because clearing invalidates the provider's prompt cache. @default 0 */
    atLeast?: number
    /** The text that replaces a result. @default says that it is cleared */
    marker?: string
  }
  /** The model that summarises, or a name that the agent can resolve. A small one is enough. @default the model of the call */
  model?: ModelRef | undefined
  /** The prompt of the summarising model. @default a prompt that preserves wishes, decisions, facts and open questions */
  instructions?: string | undefined
  /** The maximum length of a summary in tokens. @default 4_000 */
  maxSummaryTokens?: number | undefined
  /** Timeout of the summarising call, in milliseconds. @default 60_000 */
  timeout?: number | undefined
  /** @default one token per 4 characters, and 1,000 for an image or a file */
  countTokens?(message: Readonly<Message>): number
  /** The layers' name, and the prefix of the state key. @default 'memory:compact' */
  as?: Name | undefined
}

/** The checked options with their defaults. */
export interface ResolvedCompactOptions<Name extends string> {
  strategy: 'clear' | 'summarise' | 'hybrid'
  limit: ConversationSize
  keepSize: ConversationSize
  clearing: Clearing & { atLeast: number }
  model: ModelRef | undefined
  instructions: string
  maxSummaryTokens: number
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
  contextWindow: option.number({ from: 1 }),
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
  instructions: option.text,
  maxSummaryTokens: option.number({ from: 1 }),
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
    contextWindow,
    keep = {},
    results = {},
    model,
    instructions = summaryPrompt,
    maxSummaryTokens = 4000,
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
  if (fraction !== undefined && contextWindow === undefined)
    fail(
      'has trigger.fraction, but the size of the window is unknown. Pass contextWindow, the tokens that the model accepts.',
    )
  const unlimited = Number.POSITIVE_INFINITY
  const limit = {
    messages: messages ?? unlimited,
    tokens: Math.min(tokens ?? unlimited, fraction === undefined ? unlimited : fraction * (contextWindow as number)),
  }
  const keepSize = {
    messages: keep.messages ?? (keep.tokens === undefined ? Math.min(20, Math.floor(limit.messages / 2)) : unlimited),
    tokens: keep.tokens ?? limit.tokens / 2,
  }
  for (const unit of ['messages', 'tokens'] as const) {
    if (keep[unit] !== undefined && keep[unit] >= limit[unit])
      fail(`would keep ${keep[unit]} ${unit}, but starts at ${limit[unit]}. Keep fewer.`)
  }
  const { keep: newest = 3, exclude = [], atLeast = 0, marker = clearedMarker } = results
  const clearing = { keep: newest, exclude, atLeast, marker }
  return { strategy, limit, keepSize, clearing, model, instructions, maxSummaryTokens, timeout, count, as }
}

const clearedMarker = '[This result was cleared to save room. Call the tool again if you need it.]'
