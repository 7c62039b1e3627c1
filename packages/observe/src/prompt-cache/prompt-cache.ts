import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  option,
  sessionKeyOf,
  type TypedMiddleware,
} from '@allium/core'
import { isReplaying, physicalCallsOf } from '@allium/core/context'
import { createPricing, type Prices } from '@allium/shared/prices'
import { CallRecorder } from './call-recorder.ts'
import { finalRequest, findBreaks, type PromptCacheBreak, promptTokens, type WatchedCall } from './find-breaks.ts'
import { readsFromCache, savedIfRead } from './provider-counts.ts'
import { WatchedSessions } from './watched-sessions.ts'

export interface PromptCacheOptions {
  /** Your own prices; they override the public list. */
  prices?: Prices | undefined
  /** Losses below this number of estimated tokens are not reported. @default 256, or a tenth of the request if that is less */
  minTokens?: number | undefined
  /** Names of layers that may break the cache, because they shorten the conversation. Names of their parts begin with theirs. @default ['memory:compact'] */
  intended?: readonly string[] | undefined
  /** How many sessions are watched: those that called a model last. @default 100 */
  maxSessions?: number | undefined
  /** The layer's name. @default 'observe:promptCache' */
  as?: string | undefined
}

/** The prompt of a call does not begin as the prompt of the call before, so the provider's cache has only a part of it. */
export interface ObservePromptCache {
  type: 'observe:promptCache'
  /** The layer that watches. */
  layer: string
  model: string
  /** The number of the model call in its turn, from 0. */
  callIndex: number
  /** The difference with the largest loss: which layer, from which token on, how many tokens. */
  first: PromptCacheBreak
  /** All differences, outermost layer first. Each one would remain without the others. */
  breaks: PromptCacheBreak[]
  /** The estimated tokens of the prompt. */
  promptTokens: number
  /** The estimated cost in USD of the lost tokens, compared with reading them from the cache. Undefined without a known price. */
  cost?: number
  /** The tokens that the provider has read from its cache; undefined if it does not count them. */
  cachedTokens?: number
  /** Whether `cachedTokens` agrees. If it is false, the provider has read more than the estimate allows. */
  confirmed?: boolean
}

declare module '@allium/core' {
  interface AgentEvents {
    'observe:promptCache': ObservePromptCache
  }
}

const readOptions = layerOptions<PromptCacheOptions>('observe:promptCache', {
  prices: option.either(option.object, option.fn),
  minTokens: option.number({ from: 1 }),
  intended: option.list(option.text),
  maxSessions: option.whole(1),
})

/**
 * Names the layer that breaks the provider's prompt cache between two model calls of a session, from which token on, and what it costs.
 *
 * Use it in development, and in production to notice a change that makes requests more expensive. Register it anywhere: it wraps the
 * model hooks of all other layers. It reports `observe:promptCache` events, and logs each layer once. It keeps references to the messages
 * of the last two calls.
 *
 * @example
 * import { promptCache } from '@allium/observe/prompt-cache'
 * agent.use(promptCache()).on('observe:promptCache', ({ first }) => console.log(first.layer, first.fromToken, first.lostTokens))
 */
export function promptCache(options: PromptCacheOptions = {}): TypedMiddleware<{}> {
  const {
    prices,
    minTokens,
    intended = ['memory:compact'],
    maxSessions = 100,
    as = 'observe:promptCache',
  } = readOptions(options)
  const costOf = createPricing(prices)
  const sessions = new WatchedSessions(maxSessions)
  const logged = new Set<string>()
  const recorder = new CallRecorder(answered)

  const layer = defineMiddleware({
    name: as,
    // Not `observes`: it reports no text that an outer layer would have to redact.
    order: { is: ['traces', 'watchesPrompts'] },
  })
  return Object.assign(layer, { wrapHooks: recorder.wrapHooks.bind(recorder) })

  function answered(call: WatchedCall, ctx: ModelContext): Promise<void> | undefined {
    const before = sessions.add(`${ctx.agent.name} ${sessionKeyOf(ctx)}`, call)
    if (before === undefined || isReplaying(ctx)) return undefined
    const breaks = breaksBetween(before, call)
    return breaks.length === 0 ? undefined : report(call, ctx, breaks)
  }

  function breaksBetween(before: WatchedCall, call: WatchedCall): PromptCacheBreak[] {
    const least = () => minTokens ?? Math.min(256, promptTokens(finalRequest(call)) / 10)
    return findBreaks(before, call, least).map((found) => ({ ...found, intended: isIntended(found.layer) }))
  }

  function isIntended(name = ''): boolean {
    return intended.some((known) => name === known || name.startsWith(`${known}:`))
  }

  async function report(call: WatchedCall, ctx: ModelContext, breaks: PromptCacheBreak[]): Promise<void> {
    const prompt = promptTokens(finalRequest(call))
    const first = breaks.reduce((most, one) => (one.lostTokens >= most.lostTokens ? one : most))
    const { model = ctx.model, usage } = physicalCallsOf(ctx).at(-1) ?? {}
    const counts = usage && readsFromCache(usage, { prompt, ...first })
    const cost = usage && (await savedIfRead(costOf, model, usage, first.lostTokens / prompt).catch(() => undefined))
    const about = { layer: as, model, callIndex: call.callIndex, first, breaks, promptTokens: prompt }
    ctx.emit({ type: 'observe:promptCache', ...about, ...(cost !== undefined && { cost }), ...counts })
    if (counts?.confirmed !== false) log(ctx, first, prompt, cost)
  }

  function log(
    { logger }: ModelContext,
    { layer: name, part, intended: isMeant, ...tokens }: PromptCacheBreak,
    prompt: number,
    cost?: number,
  ): void {
    const key = `${name} ${part}`
    if (isMeant || logged.has(key) || logged.size >= maxLogged) return
    logged.add(key)
    const { fromToken, lostTokens } = tokens
    const who = name === undefined ? 'The agent or a turn layer' : `The layer "${name}"`
    const price = cost === undefined ? '' : `, for about $${cost.toPrecision(2)}`
    logger.warn(
      `${who} breaks the provider's prompt cache: the ${partNames[part]} of a call differs from the call before at about token ${fromToken} of ${prompt}, so about ${lostTokens} tokens are processed again${price}. Move changing values to the end of the request. This is logged once.`,
      { layer: name, part, fromToken, lostTokens },
    )
  }
}

const maxLogged = 100
const partNames: Record<PromptCacheBreak['part'], string> = {
  tools: 'list of tools',
  instructions: 'instructions',
  messages: 'conversation',
  model: 'model',
  toolChoice: 'tool choice',
  responseFormat: 'response format',
}
