import type { ModelContext, ModelResponse, ToolContext, ToolResult, TurnView } from '@allium/core'
import { callerOf, isReplaying, type PhysicalCall, physicalCallsOf } from '@allium/core/context'
import type { RolloutDecided } from '@allium/store'
import type { Meter } from '@opentelemetry/api'
import { errorType } from '../error-type.ts'
import { decisionOfError } from '../failure.ts'
import { ignoreErrors } from '../ignore-errors.ts'
import { knownTool } from '../known-tool.ts'
import type { ObservePromptCache } from '../prompt-cache/event.ts'
import { stopwatch } from '../stopwatch.ts'
import { watchCall } from '../watch-call.ts'
import { modelValues, serverValues, withoutProvider } from './call-values.ts'
import { type ChunkTimes, chunkTimesOf } from './chunk-times.ts'
import { alliumNames, type Values } from './conventions.ts'
import { Instruments } from './instruments.ts'
import type { Conventions, MetricKey } from './names.ts'

/** The calls of a turn, without those of its sub-agents. */
interface TurnCounts {
  modelCalls: number
  toolCalls: number
}

/** Measures turns and calls with the instruments of a meter. Replayed calls were measured when they happened. */
export class Measures {
  readonly #conventions: Conventions
  readonly #meter: Meter | undefined
  #instruments: Instruments | undefined
  readonly #turns = new WeakMap<object, TurnCounts>()

  constructor(conventions: Conventions, meter: Meter | undefined) {
    this.#conventions = conventions
    this.#meter = meter
  }

  /** Begins to measure a turn, once. That of a sub-agent that inherits the layer is measured from its first call. */
  turn(ctx: TurnView): TurnCounts {
    const known = this.#turns.get(ctx.metadata)
    if (known !== undefined) return known
    const counts: TurnCounts = { modelCalls: 0, toolCalls: 0 }
    this.#turns.set(ctx.metadata, counts)
    const ms = stopwatch(ctx.clock)
    const values = { operation: 'invoke_agent', agent: ctx.agent.name, isNested: callerOf(ctx) !== undefined }
    ctx.onEnd(({ status, error }) => {
      const failure = status === 'failed' ? { errorType: errorType(error) } : {}
      this.#unlessReplayed(ctx, (all) => {
        recordTime(all, 'turnDuration', ms(), { ...values, ...failure }, { [alliumNames.status]: status })
        all.record('turnModelCalls', counts.modelCalls, values)
        all.record('turnToolCalls', counts.toolCalls, values)
      })
    })
    return counts
  }

  async model(ctx: ModelContext, next: () => Promise<ModelResponse>): Promise<ModelResponse> {
    ignoreErrors(() => this.turn(ctx).modelCalls++)
    const ms = stopwatch(ctx.clock)
    const chunks = chunkTimesOf(ctx, ms)
    const values = { operation: 'chat', ...modelValues(ctx.model) }
    let outcome: Values = {}
    try {
      return await watchCall(next, {
        onResult: ({ model }) => void (outcome = { responseModel: withoutProvider(model) }),
        onError: (error) => void (outcome = { errorType: typeOf(error) }),
      })
    } finally {
      const time = ms()
      this.#unlessReplayed(ctx, (all) => {
        const calls = physicalCallsOf(ctx)
        const call = { ...values, ...serverValues(calls.at(-1)), ...outcome }
        recordTime(all, 'inferenceDuration', time, call)
        if (outcome.errorType === undefined) recordChunks(all, chunks, call)
        for (const physical of calls) recordTokens(all, physical, call)
      })
    }
  }

  tool(ctx: ToolContext, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const counts = ignoreErrors(() => this.turn(ctx))
    const ms = stopwatch(ctx.clock)
    const tool = { operation: 'execute_tool', toolName: knownTool(ctx), toolType: 'function', agent: ctx.agent.name }
    const record = (failure?: string) => {
      if (counts !== undefined) counts.toolCalls++
      const time = ms()
      this.#unlessReplayed(ctx, (all) => recordTime(all, 'toolDuration', time, { ...tool, errorType: failure }))
    }
    return watchCall(next, {
      onResult({ status, error }) {
        if (status === 'ok') record()
        else if (status === 'error') record(error === undefined ? 'tool_error' : errorType(error))
      },
      onError: (error) => record(typeOf(error)),
    })
  }

  /** Adds what a call lost because its prompt begins differently. Without a layer, the agent made the difference. */
  promptCache({ model, first: { layer, part, intended, lostTokens }, confirmed }: ObservePromptCache): void {
    const about = { ...(layer !== undefined && { [alliumNames.layer]: layer }), [alliumNames.part]: part }
    const attributes = { ...about, [alliumNames.intended]: intended }
    ignoreErrors(() => confirmed === false || this.#all.lost(lostTokens, modelValues(model), attributes))
  }

  /** Counts a verdict of a rollout. */
  rollout({ rollout, verdict }: RolloutDecided): void {
    ignoreErrors(() => this.#all.decided({ [alliumNames.rollout]: rollout, [alliumNames.verdict]: verdict }))
  }

  #unlessReplayed(ctx: TurnView, record: (all: Instruments) => void): void {
    ignoreErrors(() => isReplaying(ctx) || record(this.#all))
  }

  /** Created late, because before the application registers its meters there are only no-op meters. */
  get #all(): Instruments {
    return (this.#instruments ??= new Instruments(this.#conventions, this.#meter))
  }
}

/** Records a time in milliseconds; undefined if the clock failed. */
function recordTime(all: Instruments, key: MetricKey, ms: number | undefined, values: Values, attributes = {}): void {
  if (ms !== undefined) all.record(key, ms / 1000, values, attributes)
}

function recordChunks(all: Instruments, { first, between }: ChunkTimes, values: Values): void {
  recordTime(all, 'firstChunk', first, values)
  for (const ms of between) recordTime(all, 'outputChunk', ms, values)
}

/** Counts also a call without usage, as 0. The histogram of old names has only calls with tokens. */
function recordTokens(all: Instruments, { model, usage }: PhysicalCall, call: Values): void {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage
  const estimated = usage.estimated === true ? { [alliumNames.estimated]: true } : {}
  const hasTokens = inputTokens + outputTokens > 0
  const values = { ...call, modality: 'unknown', ...(hasTokens && { responseModel: withoutProvider(model) }) }
  const record = (key: MetricKey, tokens: number, more?: Values) =>
    all.record(key, tokens, { ...values, ...more }, estimated)
  record('inputTokens', inputTokens)
  record('outputTokens', outputTokens)
  record('cacheReadTokens', cachedInputTokens)
  record('cacheWriteTokens', cacheWriteTokens)
  record('reasoningTokens', reasoningTokens)
  record('inputTokensOfCall', inputTokens)
  record('outputTokensOfCall', outputTokens)
  if (!hasTokens) return
  record('tokens', inputTokens, { tokenType: 'input' })
  record('tokens', outputTokens, { tokenType: 'output' })
}

/** Aborts and blocks are reported by name. */
function typeOf(error: unknown): string {
  const decision = decisionOfError(error)
  return decision === 'failed' ? errorType(error) : decision
}
