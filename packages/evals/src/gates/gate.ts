import { AlliumError } from '@allium/core'
import { describe, isRecord } from '@allium/core/internal'
import type { Verdict } from '../statistics/verdicts.ts'

/**
 * A condition on the mean of a scorer:
 *
 * - `min`: the mean score must be above it
 * - `maxDrop`: the mean score may fall by less than this from the baseline's. 0.05 are five points
 * - `maxRatio`: the mean ratio of the measured value to the baseline's must be below it, as 1.2 for a cost. Each case's ratio counts up to 2
 */
export type Gate = { readonly min: number } | { readonly maxDrop: number } | { readonly maxRatio: number }

/** The result of a gate. */
export interface GateReport {
  readonly scorer: string
  readonly gate: Gate
  readonly verdict: Verdict
  /** The mean score, its drop, or the mean ratio, over valid trials. Absent if there are none. */
  readonly estimate?: number
  /** The bounds of the estimate's true value, each wrong in at most 5 % of all evaluations. Absent if nothing could be compared. */
  readonly interval?: readonly [low: number, high: number]
  /** How many independent cases or groups were compared. */
  readonly units: number
  /** The larger share of invalid trials, of this run's and of the baseline's, from 0 to 1. */
  readonly invalid: number
  /** The ids of cases that the baseline does not have, or has with another input. */
  readonly uncompared: readonly string[]
  /** The verdict in words. */
  readonly reason: string
}

/** Which field of a gate applies, and its value. */
export type GateKind = { readonly [K in GateName]: { readonly kind: K; readonly value: number } }[GateName]
type GateName = 'min' | 'maxDrop' | 'maxRatio'

/** The largest and the smallest useful value of each gate. */
const ranges = { min: [0, 1], maxDrop: [-1, 1], maxRatio: [0, 2] } as const

/** @throws AlliumError `options.invalid` */
export function kindOf(gate: unknown, scorer: string): GateKind {
  const entries = isRecord(gate) ? Object.entries(gate) : []
  const [kind, value] = entries[0] ?? []
  if (entries.length !== 1 || !(kind !== undefined && Object.hasOwn(ranges, kind))) {
    const found = isRecord(gate) ? `{ ${Object.keys(gate).join(', ').slice(0, 100)} }` : describe(gate)
    throw invalid(
      `The gate "${scorer}" must be { min }, { maxDrop } or { maxRatio }, or a list of these, not ${found}.`,
    )
  }
  const [from, below] = ranges[kind as GateName]
  if (typeof value !== 'number' || !(value >= from && value < below))
    throw invalid(
      `The gate "${scorer}" takes ${kind} from ${from} to below ${below}, not ${describe(value)}. Shares are written as 0.05, not 5.`,
    )
  return { kind, value } as GateKind
}

/** Returns the gates by scorer as a list. @throws AlliumError `options.invalid` */
export function gateList(
  gates: Readonly<Record<string, Gate | readonly Gate[] | undefined>>,
  scorers: readonly string[],
): { scorer: string; gate: Gate }[] {
  return Object.entries(gates).flatMap(([scorer, given]) => {
    if (!scorers.includes(scorer))
      throw invalid(`There is a gate for "${scorer}", but no such scorer. The scorers are ${scorers.join(', ')}.`)
    return [given ?? []].flat().map((gate) => {
      kindOf(gate, scorer)
      return { scorer, gate: gate as Gate }
    })
  })
}

function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
