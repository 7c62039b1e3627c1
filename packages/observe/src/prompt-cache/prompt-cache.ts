import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  option,
  sessionKeyOf,
  type TypedMiddleware,
} from '@allium/core'
import { isReplaying } from '@allium/core/context'
import { createPricing, type Prices } from '@allium/shared/prices'
import { BreakReporter } from './break-reporter.ts'
import { CallRecorder } from './call-recorder.ts'
import { finalRequest, findBreaks, type PromptCacheBreak, promptTokens, type WatchedCall } from './find-breaks.ts'
import { WatchedSessions } from './watched-sessions.ts'

export interface PromptCacheOptions {
  /** Your own prices; they override the public list. */
  prices?: Prices | undefined
  /** Losses below this number of estimated tokens are not reported. @default 256, or a tenth of the request if that is less */
  minLostTokens?: number | undefined
  /** Names of layers that may break the cache, because they shorten the conversation. Names of their parts begin with theirs. @default ['memory:compact'] */
  intended?: readonly string[] | undefined
  /** How many sessions are watched: those that called a model last. @default 100 */
  maxSessions?: number | undefined
  /** The layer's name. @default 'observe:promptCache' */
  as?: string | undefined
}

const readOptions = layerOptions<PromptCacheOptions>('observe:promptCache', {
  prices: option.either(option.object, option.fn),
  minLostTokens: option.number({ from: 1 }),
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
    minLostTokens,
    intended = ['memory:compact'],
    maxSessions = 100,
    as = 'observe:promptCache',
  } = readOptions(options)
  const reporter = new BreakReporter(as, createPricing(prices))
  const sessions = new WatchedSessions(maxSessions)
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
    return breaks.length === 0 ? undefined : reporter.report(call, ctx, breaks)
  }

  function breaksBetween(before: WatchedCall, call: WatchedCall): PromptCacheBreak[] {
    const least = () => minLostTokens ?? Math.min(256, promptTokens(finalRequest(call)) / 10)
    return findBreaks(before, call, least).map((found) => ({ ...found, intended: isIntended(found.layer) }))
  }

  function isIntended(name = ''): boolean {
    return intended.some((known) => name === known || name.startsWith(`${known}:`))
  }
}
