import {
  defineMiddleware,
  layerOptions,
  type Message,
  type ModelContext,
  type ModelResponse,
  option,
  type TypedMiddleware,
  writerOf,
} from '@allium/core'
import { digestOf } from '@allium/core/internal'
import { memoryKeyValue, SingleFlight, sharersOf } from '@allium/shared/resilience'
import { type KeyValue, sharedStore } from '@allium/store'

export interface CacheOptions {
  /** The store of answers, such as a Keyv. @default the values of the agent's store, else in this process, the 1,000 most recently used */
  store?: KeyValue | undefined
  /** Milliseconds. @default 3_600_000 */
  ttl?: number | undefined
  /**
   * Who shares answers. `tenant` and `user` are the principal's `tenantId` and `userId`, or else its `tenant` and `user`; without these,
   * the session. @default 'tenant'
   */
  per?: 'tenant' | 'user' | 'session' | undefined
  /** Which calls are cached. @default all */
  when?(ctx: ModelContext): boolean
  /** The layer's name, and the prefix of its keys. @default 'model:cache' */
  as?: string | undefined
}

/** A call was answered from the cache, or by an identical call in progress. */
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
 * Answers a repeated model call from a cache, streamed like any other answer.
 *
 * The key covers the owner and the whole request: model, messages, tools and settings. Identical concurrent calls are made once.
 * Errors and truncated answers are never cached. Put it inside layers that redact or change the request, and outside of meters, so
 * that a hit costs nothing. If the store fails, the model is called.
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
    options: { ttl, per },
    order: { is: ['caches'] },
    async model(ctx, next) {
      if (!when(ctx)) return next()
      const key = `${as}:${await digestOf([sharersOf(ctx, per), ctx.model, requestKey(ctx.request)])}`
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
      ctx.logger.warn(`"${as}" could not read its store, so the model is called.`, { error })
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

/** A page gives each message an id, which does not change what the model reads. */
function requestKey({ messages, ...rest }: ModelContext['request']): object {
  return { ...rest, messages: messages.map(withoutId) }
}

/** Returns the same object if it can, because its digest is remembered. */
function withoutId(message: Readonly<Message>): Readonly<Message> {
  if (message.id === undefined) return message
  const { id: _, ...rest } = message
  return rest
}

/** The cached part of an answer. */
type CachedAnswer = Pick<ModelResponse, 'text' | 'reasoning' | 'toolCalls' | 'finishReason' | 'model' | 'message'>

function toCachedAnswer({ text, reasoning, toolCalls, finishReason, model, message }: ModelResponse): CachedAnswer {
  return { text, ...(reasoning !== undefined && { reasoning }), toolCalls, finishReason, model, message }
}

/**
 * Whether the model finished its answer, instead of hitting a length limit, a filter or an error. Answers of layers, such as a budget, are
 * not cached.
 */
function isComplete({ finishReason, usage, paused, toolCalls, message }: ModelResponse): boolean {
  if (usage.calls === 0 || paused === true || (finishReason !== 'stop' && finishReason !== 'tool-calls')) return false
  return toolCalls.every(
    ({ callId, providerExecuted, approvalRequest }) =>
      approvalRequest === undefined && (providerExecuted !== true || hasResult(message, callId)),
  )
}

/** A result that the provider still owes arrives only in a response to this very answer. */
function hasResult({ content }: Message, callId: string): boolean {
  return typeof content !== 'string' && content.some((part) => part.type === 'tool-result' && part.callId === callId)
}

/** Returns the answer with zero usage and new tool call ids, because ids are unique in a history. */
async function replayAnswer(cached: CachedAnswer, { turnId, callIndex }: ModelContext) {
  const { toolCalls, message, ...rest } = structuredClone(cached)
  const suffix = (await digestOf([turnId, callIndex])).slice(0, 16)
  const callPositions = new Map(toolCalls.map(({ callId }, position) => [callId, position]))
  // At most 64 letters, digits, _ and -, which every provider accepts.
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
