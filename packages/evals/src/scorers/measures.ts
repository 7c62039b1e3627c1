import { AlliumError, type Usage } from '@allium/core'
import type { EvalRun, Score, Scorer } from '../run/run.ts'

export interface LimitOptions {
  /** The largest value with the score 1. A larger one scores 0. @default no score, only a value, for a gate with `maxRatio` */
  max?: number | undefined
}

export interface CostOptions extends LimitOptions {
  /** Returns the price of a run, in any currency. @default the cost that the provider reports, in USD */
  price?(usage: Readonly<Usage>): number
}

/**
 * Measures the cost of a run, including its sub-agents.
 *
 * @throws AlliumError `options.invalid` if the provider reports no cost and there is no `price`; such a trial is invalid
 * @example
 * evaluate({ …, scorers: { cost: cost({ price }) }, gates: { cost: { maxRatio: 1.2 } } })
 */
export function cost({ price = costOf, max }: CostOptions = {}): Scorer {
  return ({ usage }) => measured(price(usage), max)
}

/** Measures the tokens of a run, in and out. */
export function tokens({ max }: LimitOptions = {}): Scorer {
  return ({ usage }) => measured(usage.inputTokens + usage.outputTokens, max)
}

/** Measures the time of a run in milliseconds. Depends on the machine and on `concurrency`. */
export function latency({ max }: LimitOptions = {}): Scorer {
  return ({ duration }) => measured(duration, max)
}

/** Measures how often the model answered, including answers that call tools. */
export function steps({ max }: LimitOptions = {}): Scorer {
  return (run: EvalRun) => measured(run.steps, max)
}

function measured(value: number, max: number | undefined): Score {
  if (max === undefined) return { value }
  return value <= max ? { value, score: 1 } : { value, score: 0, reason: `${value} is above ${max}.` }
}

function costOf({ reportedCost }: Readonly<Usage>): number {
  if (reportedCost !== undefined) return reportedCost
  throw new AlliumError('options.invalid', 'The provider reports no cost. Pass cost({ price: (usage) => … }).')
}
