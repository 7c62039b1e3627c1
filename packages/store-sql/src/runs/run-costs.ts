import type { StoredRecord, Usage } from '@allium/core'
import type { CallCost } from '@allium/store'

/** The usage of a turn as its column has it: in clear text, for reports and operators. */
export interface ColumnUsage extends Usage {
  /** Of all calls with a price, in USD. */
  readonly cost?: number
  /** The calls that are steps of a journal. */
  readonly steps?: readonly CallCost[]
}

/** Most calls whose costs are kept. */
const maxSteps = 500
/** Longest id of a step that is kept. */
const maxStepId = 500

/** Returns the usage of a turn with the costs in its records of the topic `usage`, as `observe.usage` writes them. Other records are content. */
export function withCosts(usage: Usage, records: readonly StoredRecord[]): ColumnUsage {
  const calls = records.filter(({ topic }) => topic === 'usage').map(({ data }) => callOf(data))
  const costs = calls.flatMap(({ cost }) => (cost === undefined ? [] : [cost]))
  const steps = calls.filter(({ step }) => step !== '').slice(0, maxSteps)
  return {
    ...usage,
    ...(costs.length > 0 && { cost: costs.reduce((total, cost) => total + cost) }),
    ...(steps.length > 0 && { steps }),
  }
}

function callOf(data: unknown): CallCost {
  const { step, usage, cost } = (data ?? {}) as { step?: unknown; usage?: Partial<Usage>; cost?: unknown }
  return {
    step: typeof step === 'string' && step.length <= maxStepId ? step : '',
    inputTokens: countOf(usage?.inputTokens),
    outputTokens: countOf(usage?.outputTokens),
    ...(typeof cost === 'number' && Number.isFinite(cost) && { cost }),
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** Splits the column into the usage of the turn and the costs. */
export function splitCosts({ cost, steps, ...usage }: ColumnUsage) {
  return { usage: usage as Usage, costs: { ...(cost !== undefined && { cost }), ...(steps && { calls: steps }) } }
}
