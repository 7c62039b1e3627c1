import type { ModelContext } from '@allium/core'
import { physicalCallsOf } from '@allium/core/context'
import type { CostOf } from '@allium/shared/prices'
import type { ObservePromptCache } from './event.ts'
import { finalRequest, type PromptCacheBreak, promptTokens, type WatchedCall } from './find-breaks.ts'
import { readsFromCache, savedIfRead } from './provider-counts.ts'

/** Emits an event for each call whose prompt begins differently, and logs each layer once. */
export class BreakReporter {
  readonly #name: string
  readonly #costOf: CostOf
  /** Layers with the parts that they change. */
  readonly #logged = new Set<string>()

  /** @param name the name of the layer that watches */
  constructor(name: string, costOf: CostOf) {
    this.#name = name
    this.#costOf = costOf
  }

  /** @param breaks at least one */
  async report(call: WatchedCall, ctx: ModelContext, breaks: PromptCacheBreak[]): Promise<void> {
    const prompt = promptTokens(finalRequest(call))
    const first = breaks.reduce((most, one) => (one.lostTokens >= most.lostTokens ? one : most))
    const { model = ctx.model, usage } = physicalCallsOf(ctx).at(-1) ?? {}
    const counts = usage && readsFromCache(usage, { prompt, ...first })
    const share = first.lostTokens / prompt
    const cost = usage && (await savedIfRead(this.#costOf, model, usage, share).catch(() => undefined))
    const about = { layer: this.#name, model, callIndex: call.callIndex, first, breaks, promptTokens: prompt }
    const event: ObservePromptCache = {
      type: 'observe:promptCache',
      ...about,
      ...(cost !== undefined && { cost }),
      ...counts,
    }
    ctx.emit({ ...event })
    if (event.confirmed !== false) this.#log(ctx, event)
  }

  #log({ logger }: ModelContext, { first, promptTokens: prompt, cost }: ObservePromptCache): void {
    const { layer, part, fromToken, lostTokens } = first
    const key = `${layer} ${part}`
    if (first.intended || this.#logged.has(key) || this.#logged.size >= maxLogged) return
    this.#logged.add(key)
    const who = layer === undefined ? 'The agent or a turn layer' : `The layer "${layer}"`
    const price = cost === undefined ? '' : `, for about $${cost.toPrecision(2)}`
    logger.warn(
      `${who} breaks the provider's prompt cache: a call differs from the one before in its ${partNames[part]}, from about token ${fromToken} of ${prompt} on. About ${lostTokens} tokens are processed again${price}. Move changing values to the end of the request. This is logged once.`,
      { layer, part, fromToken, lostTokens },
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
