import { describe, expect, it } from 'vitest'
import { gaffke } from '../src/statistics/gaffke.ts'
import { holm } from '../src/statistics/holm.ts'

const bound = gaffke()
const zeros = (n: number) => Array.from({ length: n }, () => 0)
const scores = (ones: number, of: number) => [...zeros(of - ones), ...Array.from({ length: ones }, () => 1)]

describe("Gaffke's bounds", () => {
  // Clopper-Pearson at 5 % per side: the quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k), from scipy 1.14.
  it.each([
    [40, 40, 0.9278, 1],
    [0, 40, 0, 0.0722],
    [5, 10, 0.2224, 0.7776],
    [90, 100, 0.8363, 0.9447],
    [195, 200, 0.9482, 0.9901],
  ])('equal those of Clopper and Pearson for %i of %i', (ones, of, low, high) => {
    const { lower, upper } = bound(scores(ones, of))
    expect(lower(0.05)).toBeCloseTo(low, 2)
    expect(upper(0.05)).toBeCloseTo(high, 2)
  })

  it('do not depend on the order of the values', () => {
    const values = [0.2, 0.9, 0.4, 0.4, 1]
    expect(bound(values).lower(0.05)).toBe(bound(values.toReversed()).lower(0.05))
  })

  it('stay 7.2 points wide for 40 cases without any difference', () => {
    const { lower, upper } = gaffke({ low: -1 })(zeros(40))
    expect(upper(0.05)).toBeCloseTo(0.072, 2)
    expect(lower(0.05)).toBeCloseTo(-0.072, 2)
  })

  it('never contradict their p-values', () => {
    const { lower, upper, pOfAtMost, pOfAtLeast } = bound(scores(70, 100))
    expect(pOfAtMost(lower(0.05) - 1e-9)).toBeLessThanOrEqual(0.05)
    expect(pOfAtMost(lower(0.05) + 1e-9)).toBeGreaterThan(0.05)
    expect(pOfAtLeast(upper(0.05) + 1e-9)).toBeLessThanOrEqual(0.05)
    expect(pOfAtLeast(upper(0.05) - 1e-9)).toBeGreaterThan(0.05)
  })

  it('are the same in every process', () => {
    expect(gaffke()(scores(30, 40)).lower(0.05)).toBe(gaffke()(scores(30, 40)).lower(0.05))
  })
})

describe("Holm's procedure", () => {
  it('compares the smallest p-value with the strictest limit, and stops at the first that is larger', () => {
    expect(holm([0.04, 0.01, 0.03], 0.05)).toEqual([false, true, false])
    expect(holm([0.02, 0.01, 0.04], 0.05)).toEqual([true, true, true])
  })
})
