import { describe, expect, it } from 'vitest'
import { type EvalReport, evaluate, type Gate, plan } from '../src/index.ts'
import { answering, casesOf } from './kit.ts'

/** Evaluates with a score for each case and trial. */
async function evalWith(
  cases: readonly { input: string; group?: string }[],
  scoreOf: (index: number, trial: number) => number,
  gate?: Gate | readonly Gate[],
  baseline?: EvalReport,
) {
  return evaluate({
    agent: answering(() => 'Hi.'),
    cases,
    baseline,
    gates: gate && { right: gate },
    scorers: {
      right({ case: { id }, trial }) {
        const value = scoreOf(Number(id.slice(5)) - 1, trial)
        if (Number.isNaN(value)) throw new Error('The judge talks nonsense.')
        return { score: value, value: 1 + value }
      },
    },
  })
}

describe('a gate', () => {
  it('passes a minimum of 90 % with 40 of 40 right answers, and not with 38', async () => {
    const [all, most] = await Promise.all([
      evalWith(casesOf(40), () => 1, { min: 0.9 }),
      evalWith(casesOf(40), (index) => (index < 38 ? 1 : 0), { min: 0.9 }),
    ])
    expect(all.gates[0]).toMatchObject({ verdict: 'pass', estimate: 1, units: 40 })
    expect(all.gates[0]?.interval?.[0]).toBeCloseTo(0.928, 2)
    expect(most.verdict).toBe('undecided')
  })

  it('is undecided where 4 cases lose all of their 12 trials', async () => {
    const baseline = await evalWith(casesOf(4), () => 1)
    const { gates, verdict } = await evalWith(casesOf(4), () => 0, { maxDrop: 0 }, baseline)
    expect(verdict).toBe('undecided')
    expect(gates[0]).toMatchObject({ estimate: 1, units: 4 })
  })

  it('fails where 40 cases lose their answers', async () => {
    const baseline = await evalWith(casesOf(40), () => 1)
    const { gates, verdict } = await evalWith(casesOf(40), (index) => (index < 20 ? 1 : 0), { maxDrop: 0.1 }, baseline)
    expect(verdict).toBe('fail')
    expect(gates[0]).toMatchObject({ estimate: 0.5, reason: 'The true value is beyond the limit.' })
  })

  it('passes an unchanged agent with 40 cases and 10 points, and says why 5 points cannot pass', async () => {
    const baseline = await evalWith(casesOf(40), () => 1)
    const gates = [{ maxDrop: 0.1 }, { maxDrop: 0.05 }]
    const report = await evalWith(casesOf(40), () => 1, gates, baseline)
    expect(report.gates.map(({ verdict }) => verdict)).toEqual(['pass', 'undecided'])
    expect(report.gates[1]?.reason).toMatch(/With 40 cases, this gate cannot pass.* at least 59 cases/)
    expect(report.verdict).toBe('undecided')
  })

  it('is invalid if the judge fails in more than a tenth of the trials, and has a wider interval in fewer', async () => {
    const [none, few, many] = await Promise.all(
      [0, 8, 14].map((broken) =>
        evalWith(casesOf(40), (index, trial) => (index < broken && trial === 0 ? Number.NaN : 1), { min: 0.9 }),
      ),
    )
    expect([none, few, many].map((report) => report?.verdict)).toEqual(['pass', 'undecided', 'invalid'])
    const low = (report?: EvalReport) => report?.gates[0]?.interval?.[0] ?? 1
    expect(low(few)).toBeLessThan(low(none))
    expect(many?.gates[0]?.reason).toBe('11.7 % of the trials are invalid. The maximum is 10 %.')
  })

  it('counts cases of a group as one', async () => {
    const alike = casesOf(40).map((one, index) => ({ ...one, group: `template ${index % 4}` }))
    const { gates } = await evalWith(alike, () => 1, { min: 0.9 })
    expect(gates[0]).toMatchObject({ verdict: 'undecided', units: 4 })
  })

  it('compares measured values by their ratio to the baseline', async () => {
    const baseline = await evalWith(casesOf(40), () => 0)
    const gates = [{ maxRatio: 1.2 }, { maxRatio: 1.7 }]
    const report = await evalWith(casesOf(40), () => 0.5, gates, baseline)
    expect(report.gates.map(({ verdict, estimate }) => [verdict, estimate])).toEqual([
      ['fail', 1.5],
      ['pass', 1.5],
    ])
  })

  it('needs a baseline with the same cases', async () => {
    const baseline = await evalWith(casesOf(20), () => 1)
    const [without, others] = await Promise.all([
      evalWith(casesOf(40), () => 1, { maxDrop: 0.1 }),
      evalWith(casesOf(40), () => 1, { maxDrop: 0.1 }, baseline),
    ])
    expect(without.gates[0]).toMatchObject({ verdict: 'invalid', reason: expect.stringMatching(/needs a baseline/) })
    expect(others.gates[0]).toMatchObject({ verdict: 'invalid', units: 20, reason: expect.stringMatching(/^20 of 40/) })
  })

  it('does not compare a case whose input has changed', async () => {
    const baseline = await evalWith(casesOf(40), () => 1)
    const changed = casesOf(40).map((one, index) => (index === 0 ? { input: 'another question' } : one))
    const { gates } = await evalWith(changed, () => 1, { maxDrop: 0.1 }, baseline)
    expect(gates[0]).toMatchObject({ verdict: 'pass', units: 39, uncompared: ['case-1'] })
  })
})

describe('plan()', () => {
  it.each([
    [10, 0.259],
    [20, 0.139],
    [40, 0.072],
    [100, 0.03],
    [300, 0.01],
  ])('says that %i cases pass only a maxDrop above %f', (cases, margin) => {
    expect(plan({ units: cases, runs: 1 }).smallestMaxDrop).toBeCloseTo(margin, 3)
  })

  it('says how many cases a maxDrop needs', () => {
    expect(plan({ units: 40, maxDrop: 0.05, runs: 1 }).unitsNeeded).toBe(59)
    expect(plan({ units: 40, maxDrop: 0, runs: 1 }).unitsNeeded).toBe(Number.POSITIVE_INFINITY)
  })

  it('rejects points that are no share', () => {
    expect(() => plan({ units: 40, maxDrop: 5 })).toThrow(
      /maxDrop of plan\(\) takes a number from 0 to below 0.7, not 5/,
    )
  })
})
