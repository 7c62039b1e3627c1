import {
  defineMiddleware,
  type FlowLabels,
  layerOptions,
  option,
  type Part,
  type ToolContext,
  type TypedMiddleware,
  writerOf,
} from '@allium/core'
import { digestOf } from '@allium/core/internal'
import { memoryKeyValue, SingleFlight, sharersOf } from '@allium/shared/resilience'
import { type KeyValue, sharedStore } from '@allium/store'

export interface CacheOptions {
  /** The tools whose results are cached, by name: tools that only read. */
  tools: readonly string[]
  /** The store of results, such as a Keyv. @default the values of the agent's store, else in this process, the 1,000 most recently used */
  store?: KeyValue | undefined
  /** Milliseconds. @default 300_000 */
  ttl?: number | undefined
  /**
   * Who shares results. A user is identified by the principal's `tenantId` and `userId` (else `tenant`, `user`); an unidentified user
   * shares with no other. @default 'user'
   */
  per?: 'tenant' | 'user' | 'session' | undefined
  /** Which calls of these tools are cached. @default all */
  when?(ctx: ToolContext): boolean
  /** Anything else that a result depends on, such as values that the tool reads from `ctx.context`: a JSON-like value. @default nothing */
  key?(ctx: ToolContext): unknown
  /** The layer's name, and the prefix of its keys. @default 'tools:cache' */
  as?: string | undefined
}

/** A call was answered from the cache, or by an identical call in progress. */
export interface ToolsCacheHit {
  type: 'tools:cache'
  tool: string
  callId: string
}

interface CachedResult {
  readonly content: string | Part[]
  readonly value?: unknown
  readonly flow?: FlowLabels
}

const readOptions = layerOptions<CacheOptions>('tools:cache', {
  tools: option.required(option.some(option.text), 'the names of those whose results it keeps'),
  store: option.object,
  ttl: option.number({ above: 0 }),
  per: option.oneOf('tenant', 'user', 'session'),
  when: option.fn,
  key: option.fn,
})

/**
 * Answers a repeated tool call from a cache.
 *
 * The key covers the owner, the tool as the model sees it, and the arguments. Identical concurrent calls run once. Errors are never
 * cached, nor are denied, skipped or pending calls. It always runs directly around the tool, inside layers that authorize, and does
 * not cache calls that need approval. If the store fails, the tool runs.
 *
 * @throws AlliumError `layer.config` when no tools are named, or for a time that is not above 0
 * @example
 * agent.use(tools.cache({ tools: ['search'], ttl: 60_000 }))
 */
export function cache(options: CacheOptions): TypedMiddleware<{}> {
  const {
    tools,
    store,
    ttl = 300_000,
    per = 'user',
    when = () => true,
    key: extraKey = () => null,
    as = 'tools:cache',
  } = readOptions(options)
  const results = new Results(as, store, ttl)
  const singleFlight = new SingleFlight<CachedResult>()

  return defineMiddleware({
    name: as,
    options: { tools, ttl, per },
    // Otherwise the key would contain a placeholder where the tool receives a value, and another person's result could answer the call.
    order: { is: ['caches'], inside: ['mutates'] },
    innermost: true,
    async tool(ctx, next) {
      if (!tools.includes(ctx.tool.name) || needsApproval(ctx) || ctx.invalid !== undefined || !when(ctx)) return next()
      const { name, description, jsonSchema } = ctx.tool
      const key = `${as}:${await digestOf([sharersOf(ctx, per), name, description, jsonSchema, ctx.args, extraKey(ctx)])}`
      const hit = await singleFlight.find(key, ctx, () => results.read(ctx, key))
      if ('value' in hit) {
        ctx.emit({ type: 'tools:cache', tool: name, callId: ctx.callId })
        return ctx.skipCall(structuredClone(hit.value))
      }
      try {
        const result = await next()
        const copy = result.status === 'ok' ? results.copyOf(ctx, result) : undefined
        if (copy !== undefined) {
          hit.resolve(copy)
          await results.write(ctx, key, copy)
        }
        return result
      } finally {
        hit.release()
      }
    },
  })
}

/** The cached results of a layer. If the store fails, the tool runs. */
class Results {
  readonly #layer: string
  readonly #store: KeyValue | undefined
  readonly #ttl: number
  readonly #local = memoryKeyValue()

  constructor(layer: string, store: KeyValue | undefined, ttl: number) {
    this.#layer = layer
    this.#store = store
    this.#ttl = ttl
  }

  async read(ctx: ToolContext, key: string): Promise<CachedResult | undefined> {
    try {
      return (await this.#storeOf(ctx).get(key)) as CachedResult | undefined
    } catch (error) {
      ctx.logger.warn(`"${this.#layer}" could not read its store, so the tool runs.`, { error })
      return undefined
    }
  }

  async write(ctx: ToolContext, key: string, copy: CachedResult): Promise<void> {
    try {
      await this.#storeOf(ctx).set(key, copy, this.#ttl, writerOf(ctx))
    } catch (error) {
      ctx.logger.warn(`"${this.#layer}" could not write its store.`, { error })
    }
  }

  /** Returns undefined for a result that cannot be copied, such as a function; only its caller receives it. */
  copyOf(ctx: ToolContext, { content, value, flow }: CachedResult): CachedResult | undefined {
    try {
      return structuredClone({ content, value, ...(flow !== undefined && { flow }) })
    } catch (error) {
      ctx.logger.warn(`"${this.#layer}" cannot cache the result of "${ctx.tool.name}".`, { error })
      return undefined
    }
  }

  #storeOf(ctx: ToolContext): KeyValue {
    return this.#store ?? ctx.find(sharedStore)?.keyValue ?? this.#local
  }
}

/** An approval is valid for one call only. */
function needsApproval({ tool, approval }: ToolContext): boolean {
  return tool.requireApproval || approval !== undefined
}

declare module '@allium/core' {
  interface AgentEvents {
    'tools:cache': ToolsCacheHit
  }
}
