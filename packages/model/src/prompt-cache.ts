import {
  defineMiddleware,
  layerOptions,
  type Message,
  type ModelContext,
  option,
  type Part,
  type TypedMiddleware,
} from '@allium/core'
import type { RequestView } from '@allium/core/internal'

export interface PromptCacheOptions {
  /** How long the provider caches a prompt; each use renews it. Writing for an hour costs more. @default '5m' */
  ttl?: '5m' | '1h' | undefined
  /** What is marked: the system prompt including tools, and the conversation so far. @default ['system', 'messages'] */
  apply?: readonly ('system' | 'messages')[] | undefined
  /** Shorter requests, at four characters per token, stay unchanged, because the provider does not cache them. @default 1024 */
  minTokens?: number | undefined
  /** Which calls are marked. @default those of Anthropic's models, by model id */
  when?(ctx: ModelContext): boolean
  /** The layer's name. @default 'model:promptCache' */
  as?: string | undefined
}

const readOptions = layerOptions<PromptCacheOptions>('model:promptCache', {
  ttl: option.oneOf('5m', '1h'),
  apply: option.some(option.oneOf('system', 'messages')),
  minTokens: option.number({ from: 0 }),
  when: option.fn,
})

/**
 * Lets Anthropic cache the prompt; cached input costs a tenth.
 *
 * It marks the end of the system prompt, which also covers the tools, and the last two messages of the user or of tools: the end of
 * this request and of the previous one. Requests to other models stay unchanged; those that cache do so automatically. Your own marks
 * stay, and count toward Anthropic's limit of four.
 *
 * @throws AlliumError `layer.config` for a time that Anthropic does not support, or when there is nothing to mark
 * @example
 * agent.use(model.promptCache({ ttl: '1h' }))
 */
export function promptCache(options: PromptCacheOptions = {}): TypedMiddleware<{}> {
  const {
    ttl = '5m',
    apply = ['system', 'messages'],
    minTokens = 1024,
    when = isAnthropic,
    as = 'model:promptCache',
  } = readOptions(options)

  return defineMiddleware({
    name: as,
    order: { is: ['marks'] },
    innermost: true,
    model(ctx, next) {
      if (!when(ctx) || isShorter(ctx.request, minTokens)) return next()
      const { messages } = ctx
      const available = maxBreakpoints - messages.reduce((sum, message) => sum + countBreakpoints(message), 0)
      const breakpointIndexes = findBreakpointIndexes(messages, apply).filter(
        (at) => countBreakpoints(messages[at] as Message) === 0,
      )
      for (const at of breakpointIndexes.slice(0, Math.max(0, available)))
        messages[at] = withBreakpoint(messages[at] as Message, ttl)
      return next()
    },
  })
}

/** The maximum number of marks that Anthropic accepts in a request. */
const maxBreakpoints = 4

/** By the provider's name, or by the model's name if another provider serves it. */
function isAnthropic({ model }: ModelContext): boolean {
  return /^anthropic\b|claude/i.test(model)
}

/** Stops counting at the limit. */
function isShorter({ tools, messages }: RequestView, minTokens: number): boolean {
  let remaining = minTokens * 4
  for (const { content } of messages) {
    if (remaining <= 0) return false
    remaining -= typeof content === 'string' ? content.length : content.reduce((sum, part) => sum + partLength(part), 0)
  }
  for (const tool of tools) if (remaining > 0) remaining -= JSON.stringify(tool).length
  return remaining > 0
}

function partLength(part: Part): number {
  if (part.type === 'text' || part.type === 'reasoning') return part.text.length
  if (part.type === 'tool-call') return JSON.stringify(part.args).length
  if (part.type !== 'tool-result') return 0
  return typeof part.content === 'string'
    ? part.content.length
    : part.content.reduce((sum, inner) => sum + partLength(inner), 0)
}

/** Returns where to place marks, the one that saves most first. */
function findBreakpointIndexes(
  messages: readonly Message[],
  apply: NonNullable<PromptCacheOptions['apply']>,
): number[] {
  const inputIndexes = messages.flatMap(({ role }, at) => (role === 'user' || role === 'tool' ? [at] : []))
  const first = messages.findIndex(({ role }) => role !== 'system')
  const system = (first < 0 ? messages.length : first) - 1
  const [before, last] = apply.includes('messages') ? lastTwo(inputIndexes) : []
  return [last, apply.includes('system') ? system : undefined, before].filter(
    (at) => at !== undefined && at >= 0,
  ) as number[]
}

/** Returns the last two non-adjacent positions, because the provider merges adjacent messages. */
function lastTwo(breakpointIndexes: readonly number[]): [number | undefined, number | undefined] {
  const last = breakpointIndexes.at(-1)
  const before = breakpointIndexes.findLast(
    (at, i) => i < breakpointIndexes.length - 1 && breakpointIndexes[i + 1] !== at + 1,
  )
  return [before, last]
}

function countBreakpoints({ content }: Message): number {
  return typeof content === 'string' ? 0 : content.filter(hasBreakpoint).length
}

function hasBreakpoint({ providerMetadata }: Part): boolean {
  const { cacheControl, cache_control } = providerMetadata?.anthropic ?? {}
  return cacheControl !== undefined || cache_control !== undefined
}

/** Returns the message with a mark on its last part that can carry one. */
function withBreakpoint(message: Message, ttl: '5m' | '1h'): Message {
  const content: Part[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  const at = content.findLastIndex(
    (candidate) => candidate.type !== 'reasoning' && !(candidate.type === 'text' && candidate.text === ''),
  )
  const part = content[at]
  if (part === undefined) return message
  const cacheControl = ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl }
  const { anthropic, ...others } = part.providerMetadata ?? {}
  const markedPart: Part = { ...part, providerMetadata: { ...others, anthropic: { ...anthropic, cacheControl } } }
  return { ...message, content: content.with(at, markedPart) }
}
