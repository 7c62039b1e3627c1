import {
  defineMiddleware,
  digestOf,
  type FlowLabels,
  type KeyValue,
  layerOptions,
  option,
  type Part,
  sharedStore,
  sharersOf,
  type ToolContext,
  type TypedMiddleware,
  writerOf,
} from '@allium/core'
import { memoryKeyValue, SingleFlight } from '@allium/resilience'

export interface CacheOptions {
  /** The tools whose results are kept, by name: those that read, and change nothing. */
  tools: readonly string[]
  /** Where results are kept; a Keyv is one. @default the values of the agent's store, else in this process, the 1,000 used last */
  store?: KeyValue | undefined
  /** Milliseconds. @default 300_000 */
  ttl?: number | undefined
  /** Who shares results. Users are known by the principal's `tenantId` and `userId` (else `tenant`, `user`); who is not known shares with nobody. @default 'user' */
  per?: 'tenant' | 'user' | 'session' | undefined
  /** Which calls of these tools are cached. @default all */
  when?(ctx: ToolContext): boolean
  /** What else a result depends on, such as what the tool reads from `ctx.context`: a JSON-like value. @default nothing */
  key?(ctx: ToolContext): unknown
  /** The layer's name, and how its keys begin. @default 'tools:cache' */
  as?: string | undefined
}

/** A call was answered from the cache, or from one that was under way. */
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
 * Answers a tool call that was made before with the result that it got then.
 *
 * The key covers whose it is, the tool as the model sees it, and the arguments. Equal calls at the same time are one. Errors
 * are never kept, nor what was denied, skipped or waits. It stands right around the tool, inside layers that authorise, and
 * lets calls that need an approval through. Where the store fails, the tool runs.
 *
 * @throws AlliumError `layer.config` where no tools are named, or for a time that is not above 0
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
  const localStore = memoryKeyValue()
  const singleFlight = new SingleFlight<CachedResult>()

  return defineMiddleware({
    name: as,
    // Else the key has a placeholder where the tool gets a value, and another person's result answers the call.
    order: { is: ['caches'], inside: ['mutates'] },
    innermost: true,
    async tool(ctx, next) {
      if (!tools.includes(ctx.tool.name) || needsApproval(ctx) || ctx.invalid !== undefined || !when(ctx)) return next()
      const { name, description, jsonSchema } = ctx.tool
      const key = `${as}:${await digestOf([sharersOf(ctx, per), name, description, jsonSchema, ctx.args, extraKey(ctx)])}`
      const hit = await singleFlight.find(key, ctx, () => readCached(ctx, key))
      if ('value' in hit) {
        ctx.emit({ type: 'tools:cache', tool: name, callId: ctx.callId })
        return ctx.skipCall(structuredClone(hit.value))
      }
      try {
        const result = await next()
        const copy = result.status === 'ok' ? copyOf(ctx, result) : undefined
        if (copy !== undefined) {
          hit.resolve(copy)
          await writeCached(ctx, key, copy)
        }
        return result
      } finally {
        hit.release()
      }
    },
  })

  function storeOf(ctx: ToolContext): KeyValue {
    return store ?? ctx.find(sharedStore)?.keyValue ?? localStore
  }

  async function readCached(ctx: ToolContext, key: string): Promise<CachedResult | undefined> {
    try {
      return (await storeOf(ctx).get(key)) as CachedResult | undefined
    } catch (error) {
      ctx.logger.warn(`"${as}" could not read its store: the tool runs.`, { error })
      return undefined
    }
  }

  async function writeCached(ctx: ToolContext, key: string, copy: CachedResult) {
    try {
      await storeOf(ctx).set(key, copy, ttl, writerOf(ctx))
    } catch (error) {
      ctx.logger.warn(`"${as}" could not write its store.`, { error })
    }
  }

  /** Undefined for what cannot be copied, such as a function: its caller alone gets it. */
  function copyOf(ctx: ToolContext, { content, value, flow }: CachedResult): CachedResult | undefined {
    try {
      return structuredClone({ content, value, ...(flow !== undefined && { flow }) })
    } catch (error) {
      ctx.logger.warn(`"${as}" cannot keep what "${ctx.tool.name}" returned.`, { error })
      return undefined
    }
  }
}

/** What a person approved is that one call. */
function needsApproval({ tool, approval }: ToolContext): boolean {
  return tool.requireApproval || approval !== undefined
}

declare module '@allium/core' {
  interface AgentEvents {
    'tools:cache': ToolsCacheHit
  }
}
