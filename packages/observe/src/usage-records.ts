import {
  isAlliumError,
  type ModelContext,
  noUsage,
  type ToolContext,
  type ToolResult,
  type TurnView,
  type Usage,
} from '@allium/core'
import { isInherited, isRecorded, isReplaying, record } from '@allium/core/context'
import type { PhysicalCall } from '@allium/core/internal'
import type { CostOf } from '@allium/shared/prices'
import { type BegunCall, CutCalls, runKeyOf } from './cut-calls.ts'

/** The record of a physical call. The outbox also has its tenant and run. */
export interface UsageRecord {
  agent: string
  model: string
  usage: Usage
  /** In USD; absent if the price is unknown. */
  cost?: number
  /**
   * The process of a durable run was lost during the call, and another process made the call again. The provider may have billed it: the
   * usage has the call's input, as an estimate.
   */
  cut?: true
  /** The id of the call's step in the run's journal, for the timeline of a durable run. */
  step?: string
}

export interface UsageRecords {
  turn(ctx: TurnView, next: () => Promise<void>): Promise<void>
  tool(ctx: ToolContext, next: () => Promise<ToolResult>): Promise<ToolResult>
  /** Notes that a model call begins, and records the calls in its place that were cut. */
  begin(ctx: ModelContext): Promise<void>
  add(ctx: ModelContext, call: PhysicalCall, cost: number | undefined): Promise<void>
}

/** Records the physical calls with their runs, and the calls of durable runs that were cut. */
export function usageRecords(priceOf: CostOf): UsageRecords {
  /** By the turn's metadata. The turn records the usage of a call that a timeout abandoned. */
  const turns = new WeakMap<object, TurnView>()
  /** By run, while it lasts. */
  const cutCalls = new Map<string, CutCalls>()
  const turnOf = (ctx: TurnView) => turns.get(ctx.metadata) ?? ctx

  return {
    async turn(ctx, next) {
      turns.set(ctx.metadata, ctx)
      if (isInherited(ctx)) return next()
      const run = runKeyOf(ctx)
      const calls = await CutCalls.of(ctx)
      cutCalls.set(run, calls)
      try {
        await next()
      } finally {
        cutCalls.delete(run)
        // Also those that are not made again, for example because the run was stopped.
        for (const call of calls.rest()) await recordCut(ctx, call, priceOf)
      }
    },
    async tool(ctx, next) {
      const result = await next()
      const hasRun = !isAlliumError(result.error, 'tool.outcome_unknown')
      if (isReplaying(ctx) && hasRun) cutCalls.get(runKeyOf(ctx))?.replayed(ctx)
      return result
    },
    async begin(ctx) {
      const cut = await cutCalls.get(runKeyOf(ctx))?.begin(ctx)
      for (const call of cut ?? []) await recordCut(turnOf(ctx), call, priceOf)
    },
    async add(ctx, { model, usage }, cost) {
      const step = await stepOf(ctx)
      const call = { agent: ctx.agent.name, model, usage: { ...usage }, ...(step !== undefined && { step }) }
      recordCall(turnOf(ctx), cost, call)
    },
  }
}

async function recordCut(turn: TurnView, { agent, model, inputTokens }: BegunCall, priceOf: CostOf): Promise<void> {
  const usage: Usage = { ...noUsage(), inputTokens, calls: 1, estimated: true }
  const cost = await priceOf(model, usage).catch(() => undefined)
  recordCall(turn, cost, { agent, model, usage, cut: true })
}

function recordCall(turn: TurnView, cost: number | undefined, call: Omit<UsageRecord, 'cost'>): void {
  const usageRecord: UsageRecord = { ...call, ...(cost !== undefined && { cost }) }
  record(turn, 'usage', usageRecord)
}

/** Returns the id of the call's step; undefined without a journal. */
async function stepOf(ctx: ModelContext): Promise<string | undefined> {
  return (await isRecorded(ctx)) ? `${ctx.turnId}:model:${ctx.callIndex}:${ctx.attempt}` : undefined
}
