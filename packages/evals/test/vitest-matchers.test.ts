import { describe, expect, it } from 'vitest'
import '../src/vitest.ts'
import { reportOf, worse } from './report-kit.ts'

function messageOf(check: () => void): string {
  try {
    check()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The matcher passed.')
}

describe('toPassGates()', () => {
  it('passes if all gates pass', async () => {
    expect(await reportOf({ gates: { right: { min: 0.9 } } })).toPassGates()
  })

  it('names the gate, the cases against it and the layer that decided', async () => {
    const { report, baseline } = await worse()
    expect(() => expect(report).not.toPassGates()).not.toThrow()
    const message = messageOf(() => expect(report).toPassGates({ baseline }))
    expect(message).toContain('1 gate of "desk" did not pass.')
    expect(message).toContain('fail: right, drop < 10 points: 40 points (')
    expect(message).toContain('  order 1: 0, was 1. It was refused. Yes.; "limit" denied refund (new)')
    expect(message).toContain('  and 14 more cases')
  })

  it('fails for an undecided gate, unless that is allowed', async () => {
    const report = await reportOf({ cases: 4, gates: { right: { min: 0.9 } } })
    expect(messageOf(() => expect(report).toPassGates())).toContain('It needs at least 29 cases.')
    expect(report).toPassGates({ allowUndecided: true })
  })

  it('fails for a report without gates, and for other values', async () => {
    const report = await reportOf({ gates: {} })
    expect(() => expect(report).toPassGates()).toThrow('has no gates')
    expect(() => expect({ verdict: 'pass' }).toPassGates()).toThrow('is no report of evaluate()')
    expect(() => expect(report).toPassGates({ allow: true } as never)).toThrow('does not know the option allow')
  })
})

describe('toScore()', () => {
  it('compares the mean of a scorer, and names the cases below it', async () => {
    const report = await reportOf({ lost: 15 })
    expect(report).toScore('right', 0.75)
    expect(messageOf(() => expect(report).toScore('right', 0.8))).toContain(
      'Expected "right" to score at least 0.8, but it scored 0.75.\n  order 1: 0. It was refused. Yes.; "limit" denied refund',
    )
  })

  it('counts a trial without a score as 0', async () => {
    const report = await reportOf({ invalid: 30 })
    expect(messageOf(() => expect(report).toScore('right', 0.6))).toContain(
      'it scored 0.5, with 30 of 60 trials without a score',
    )
  })

  it('names the scorers if there is none of this name', async () => {
    const report = await reportOf({ cases: 3 })
    expect(() => expect(report).toScore('rihgt', 1)).toThrow('no scorer "rihgt". Its scorers are right, tokens')
  })
})
