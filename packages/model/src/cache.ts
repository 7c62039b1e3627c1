import {
  defineMiddleware,
  digestOf,
  type KeyValue,
  layerOptions,
  type Message,
  type ModelContext,
  type ModelResponse,
  option,
  sharedStore,
  sharersOf,
  type TypedMiddleware,
  writerOf,
} from '@allium/core'
import { memoryKeyValue, SingleFlight } from '@allium/resilience'

export interface CacheOptions {
  /** Where answers are kept; a Keyv is one. @default the values of the agent's store, else in this process, the 1,000 used last */
  store?: KeyValue | undefined
  /** Milliseconds. @default 3_600_000 */
  ttl?: number | undefined
  /** Who shares answers. `tenant` and `user` are the principal's `tenantId` and `userId`, else its `tenant` and `user`; without one, it is the session. @default 'tenant' */
  per?: 'tenant' | 'user' | 'session' | undefined
  /** Which calls are cached. @default all */
  when?(ctx: ModelContext): boolean
  /** The layer's name, and how its keys begin. @default 'model:cache' */
  as?: string | undefined
}

/** A call was answered from the cache, or from one that was under way. */
export interface ModelCacheHit {
  type: 'model:cache'
  model: string
}

const readOptions = layerOptions<CacheOptions>('model:cache', {
  store: option.object,
  ttl: option.number({ above: 0 }),
  per: option.oneOf('tenant', 'user', 'session'),
  when: option.fn,
})

/**
 * Answers a model call that was made before with the answer that it got then, streamed like any other.
 *
 * The key covers whose it is, the model, messages, tools and settings: all that is sent. Equal calls at the same time are
 * one. Errors are never kept, nor answers that were cut. Put it inside layers that redact or shape what is sent, and
 * outside of meters, so that a hit costs nothing. Where the store fails, the model is asked.
 *
 * @throws AlliumError `layer.config` for a time that is not above 0
 * @example
 * agent.use(model.cache({ ttl: 600_000 }))
 */
export function cache(options: CacheOptions = {}): TypedMiddleware<{}> {
  const { store, ttl = 3_600_000, per = 'tenant', when = () => true, as = 'model:cache' } = readOptions(options)
  const localStore = memoryKeyValue()
  const singleFlight = new SingleFlight<CachedAnswer>()

  return defineMiddleware({
    name: as,
    order: { is: ['caches'] },
    async model(ctx, next) {
      if (!when(ctx)) return next()
      const key = `${as}:${await digestOf([sharersOf(ctx, per), ctx.model, ctx.request])}`
      const hit = await singleFlight.find(key, ctx, () => readCached(ctx, key))
      if ('value' in hit) {
        ctx.emit({ type: 'model:cache', model: ctx.model })
        return ctx.skipCall(await replayAnswer(hit.value, ctx))
      }
      try {
        const response = await next()
        if (isComplete(response)) {
          const answer = toCachedAnswer(response)
          hit.resolve(answer)
          await writeCached(ctx, key, answer)
        }
        return response
      } finally {
        hit.release()
      }
    },
  })

  function storeOf(ctx: ModelContext): KeyValue {
    return store ?? ctx.find(sharedStore)?.keyValue ?? localStore
  }

  async function readCached(ctx: ModelContext, key: string): Promise<CachedAnswer | undefined> {
    try {
      return (await storeOf(ctx).get(key)) as CachedAnswer | undefined
    } catch (error) {
      ctx.logger.warn(`"${as}" could not read its store: the model is asked.`, { error })
      return undefined
    }
  }

  async function writeCached(ctx: ModelContext, key: string, answer: CachedAnswer) {
    try {
      await storeOf(ctx).set(key, structuredClone(answer), ttl, writerOf(ctx))
    } catch (error) {
      ctx.logger.warn(`"${as}" could not write its store.`, { error })
    }
  }
}

/** What is kept of an answer. */
type CachedAnswer = Pick<ModelResponse, 'text' | 'reasoning' | 'toolCalls' | 'finishReason' | 'model' | 'message'>

function toCachedAnswer({ text, reasoning, toolCalls, finishReason, model, message }: ModelResponse): CachedAnswer {
  return { text, ...(reasoning !== undefined && { reasoning }), toolCalls, finishReason, model, message }
}

/** Ended by itself: not at its length, by a filter, or in an error. What a layer said in the place of a model, such as a budget, is no answer to keep. */
function isComplete({ finishReason, usage, paused, toolCalls, message }: ModelResponse): boolean {
  if (usage.calls === 0 || paused === true || (finishReason !== 'stop' && finishReason !== 'tool-calls')) return false
  return toolCalls.every(
    ({ callId, providerExecuted, approvalRequest }) =>
      approvalRequest === undefined && (providerExecuted !== true || hasResult(message, callId)),
  )
}

/** A result that the provider still owes comes in an answer to this one alone. */
function hasResult({ content }: Message, callId: string): boolean {
  return typeof content !== 'string' && content.some((part) => part.type === 'tool-result' && part.callId === callId)
}

/** The answer as one of its own: it cost nothing, and ids of tool calls are unique in a history. */
async function replayAnswer(cached: CachedAnswer, { turnId, callIndex }: ModelContext) {
  const { toolCalls, message, ...rest } = structuredClone(cached)
  const suffix = (await digestOf([turnId, callIndex])).slice(0, 16)
  const callPositions = new Map(toolCalls.map(({ callId }, position) => [callId, position]))
  // Letters, digits, _ and -, 64 at the most: what every provider takes.
  const newCallId = (callId: string) =>
    `${callId.replace(/[^\w-]/g, '_').slice(0, 40)}_${suffix}_${callPositions.get(callId) ?? 'x'}`
  for (const call of toolCalls) call.callId = newCallId(call.callId)
  if (typeof message.content !== 'string')
    for (const part of message.content)
      if (part.type === 'tool-call' || (part.type === 'tool-result' && callPositions.has(part.callId)))
        part.callId = newCallId(part.callId)
  return { ...rest, toolCalls, message }
}

declare module '@allium/core' {
  interface AgentEvents {
    'model:cache': ModelCacheHit
  }
}
