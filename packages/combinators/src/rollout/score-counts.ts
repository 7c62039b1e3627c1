import { AlliumError } from '@allium/core'
import { describe } from '../describe.ts'

/** How many users had a score of 0, 0.1, 0.2 … 1: eleven counts. Processes that add to the same counts get the same verdict. */
export type ScoreCounts = readonly number[]

/** The number of bins. */
export const binCount = 11

export function noCounts(): number[] {
  return new Array<number>(binCount).fill(0)
}

/**
 * Counts one more user. A score between two tenths counts as one of them at random, so that the mean stays the same.
 *
 * @param score 0 to 1
 * @param random returns a number from 0 to below 1. @default `Math.random`
 * @throws AlliumError `layer.config` for a score outside of 0 to 1
 */
export function addScore(counts: number[], score: number, random: () => number = Math.random): void {
  if (!(score >= 0 && score <= 1))
    throw new AlliumError(
      'layer.config',
      `A score must be a number from 0 to 1, but ${describe(score)} was given. Divide it by the largest that it can be.`,
    )
  const place = score * (binCount - 1)
  const tenths = Math.floor(place)
  const bin = random() < place - tenths ? tenths + 1 : tenths
  counts[bin] = (counts[bin] ?? 0) + 1
}

/** @throws AlliumError `layer.config` */
export function checkCounts(arm: string, counts: ScoreCounts): void {
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) >= 0
  if (!Array.isArray(counts) || counts.length !== binCount || !counts.every(isCount))
    throw new AlliumError(
      'layer.config',
      `The counts of "${arm}" must be ${binCount} whole numbers, one for each score from 0 to 1 in steps of 0.1. Begin with noCounts().`,
    )
}

/** 0.5 if nobody was counted. */
export function meanOf(counts: ScoreCounts): number {
  const users = counts.reduce((sum, count) => sum + count)
  const score = counts.reduce((sum, count, bin) => sum + (count * bin) / (binCount - 1), 0)
  return users === 0 ? 0.5 : score / users
}
