import { describe, expect, test } from 'vitest'
import { addScore, noCounts, rolloutVerdict } from '../../src/rollout.ts'

/** Counts of `users`, of whom `good` percent had a score of 1 and the rest 0. */
function arm(users: number, good: number): number[] {
  const counts = noCounts()
  counts[10] = Math.round((users * good) / 100)
  counts[0] = users - counts[10]
  return counts
}

describe('The verdict of a rollout', () => {
  test.each([
    ['nobody was counted', 'continue', arm(0, 0), arm(0, 0)],
    ['only the baseline was counted', 'continue', arm(0, 0), arm(1000, 90)],
    ['the canary fails where the baseline does not', 'stop', arm(20, 20), arm(200, 95)],
    ['both are alike, and few were counted', 'continue', arm(20, 80), arm(180, 80)],
    ['the canary is much better', 'good', arm(100, 95), arm(100, 50)],
  ])('if %s: %s', (_, verdict, canary, baseline) => {
    expect(rolloutVerdict({ canary, baseline })).toBe(verdict)
  })

  test('allows a canary to be worse by maxDrop', () => {
    const counts = { canary: arm(1000, 75), baseline: arm(1000, 80) }
    const verdicts = [0, 0.02, 0.05, 0.15].map((maxDrop) => rolloutVerdict(counts, { maxDrop }))
    expect(verdicts).toEqual(['continue', 'continue', 'continue', 'good'])
    expect(rolloutVerdict({ canary: arm(1000, 60), baseline: arm(1000, 80) }, { maxDrop: 0.1 })).toBe('stop')
  })

  test('needs more users for a smaller alpha', () => {
    const worse = { canary: arm(40, 60), baseline: arm(400, 90) }
    expect([0.2, 0.05, 0.000_001].map((alpha) => rolloutVerdict(worse, { alpha }))).toEqual([
      'stop',
      'stop',
      'continue',
    ])
  })

  test('is the same for scores that are mirrored with the arms', () => {
    const [canary, baseline] = [arm(60, 70), arm(300, 95)]
    const mirrored = { canary: baseline.toReversed(), baseline: canary.toReversed() }
    expect([rolloutVerdict({ canary, baseline }), rolloutVerdict(mirrored)]).toEqual(['stop', 'stop'])
  })

  test.each([
    [{ canary: [1, 2], baseline: noCounts() }, {}, 'counts of "canary" must be 11 whole numbers'],
    [{ canary: noCounts(), baseline: noCounts().fill(-1) }, {}, 'counts of "baseline"'],
    [{ canary: noCounts(), baseline: noCounts() }, { maxDrop: 2 }, 'maxDrop of rolloutVerdict() must be'],
    [{ canary: noCounts(), baseline: noCounts() }, { alpha: 0 }, 'alpha of rolloutVerdict() must be'],
  ])('is refused for invalid counts and options: %o %o', (counts, options, message) => {
    expect(() => rolloutVerdict(counts, options)).toThrow(message)
  })
})

describe('A score', () => {
  test('counts as its tenth, or with the same mean as the two beside it', () => {
    const counts = noCounts()
    for (const score of [0, 0.3, 0.7, 1]) addScore(counts, score)
    expect(counts).toEqual([1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1])
    const between = noCounts()
    for (let i = 0; i < 1000; i++) addScore(between, 0.25, () => i / 1000)
    expect(between).toEqual([0, 0, 500, 500, 0, 0, 0, 0, 0, 0, 0])
  })

  test.each([-0.1, 1.1, Number.NaN])('is refused if it is %d', (score) => {
    expect(() => addScore(noCounts(), score)).toThrow('from 0 to 1')
  })
})
