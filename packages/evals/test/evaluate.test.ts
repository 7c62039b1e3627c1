import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { evaluate, score } from '../src/index.ts'
import { alwaysModel, answering, casesOf } from './kit.ts'

const echo = () => answering((input) => `You asked ${input}.`)

describe('evaluate()', () => {
  it('runs each case several times, each time in a session of its own', async () => {
    const model = alwaysModel('Yes.')
    const report = await evaluate({
      agent: new Agent({ model }),
      cases: [{ input: 'Really?' }],
      scorers: { yes: score.contains('yes') },
    })
    expect(report.cases[0]?.trials.map(({ text }) => text)).toEqual(['Yes.', 'Yes.', 'Yes.'])
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 1, 1])
  })

  it('reports the cases in their order, whichever run ends first', async () => {
    const started: string[] = []
    const model = alwaysModel(async ({ messages }) => {
      const question = String(messages.at(-1)?.content)
      started.push(question)
      for (let tick = 0; tick < 50 - 10 * started.length; tick++) await undefined
      return question
    })
    const { cases } = await evaluate({
      agent: new Agent({ model }),
      cases: casesOf(4),
      scorers: { any: () => 1 },
      trials: 1,
    })
    expect(cases.map(({ id, trials }) => [id, trials[0]?.text])).toEqual(
      casesOf(4).map(({ input }, index) => [`case-${index + 1}`, input]),
    )
  })

  it('never runs more trials at once than `concurrency`', async () => {
    let [running, most] = [0, 0]
    const model = alwaysModel(async () => {
      most = Math.max(most, ++running)
      for (let tick = 0; tick < 20; tick++) await undefined
      running--
      return 'Hi.'
    })
    const scorers = { any: () => 1 }
    await evaluate({ agent: new Agent({ model }), cases: casesOf(5), scorers, concurrency: 2 })
    expect(most).toBe(2)
  })

  it('returns plain JSON data', async () => {
    const report = await evaluate({ agent: echo(), cases: casesOf(2), scorers: { any: () => 0.5 } })
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
    expect(report.scorers.any).toEqual({ score: 0.5, invalid: 0, trials: 6 })
  })

  it('gives each case its principal and context', async () => {
    const seen: unknown[] = []
    const agent = echo().use('turn', (ctx, next) => {
      seen.push([ctx.principal, ctx.context])
      return next()
    })
    const one = { input: 'Hi', principal: { userId: 'ann' }, context: { plan: 'free' } }
    await evaluate({ agent, cases: [one], scorers: { any: () => 1 }, trials: 1 })
    expect(seen).toEqual([[{ userId: 'ann' }, { plan: 'free' }]])
  })

  it('counts a run without an answer as lost, and its trial as invalid', async () => {
    const agent = new Agent({ model: scriptedModel([new Error('503 busy'), 'Yes.', 'Yes.']) })
    const { cases, scorers } = await evaluate({ agent, cases: casesOf(1), scorers: { yes: score.contains('yes') } })
    expect(cases[0]?.trials[0]).toMatchObject({
      status: 'lost',
      reason: '503 busy',
      scores: { yes: { invalid: 'The run gave no answer: 503 busy' } },
    })
    expect(scorers.yes).toEqual({ score: 1, invalid: 1, trials: 3 })
  })

  it('scores an answer that does not fit the schema of the run with 0', async () => {
    const number = { jsonSchema: { type: 'object' }, schema: fits((value) => typeof value === 'number') }
    const { cases } = await evaluate({
      agent: echo(),
      cases: casesOf(1),
      scorers: { any: () => 1 },
      output: number,
      trials: 1,
    })
    expect(cases[0]?.trials[0]).toMatchObject({ status: 'failed', scores: { any: { score: 0 } } })
  })

  it('makes a trial invalid if its scorer throws, or returns no number from 0 to 1', async () => {
    const scorers = {
      throws: () => {
        throw new Error('no idea')
      },
      seven: () => 7,
      none: () => undefined as never,
    }
    const { cases } = await evaluate({ agent: echo(), cases: casesOf(1), scorers, trials: 1 })
    expect(cases[0]?.trials[0]?.scores).toEqual({
      throws: { invalid: 'no idea' },
      seven: { invalid: 'The scorer returned the score 7. A score is a number from 0 to 1.' },
      none: { invalid: 'The scorer returned undefined. Return a number from 0 to 1, or { score, reason }.' },
    })
  })

  it('stops at an abort, and rejects with its reason', async () => {
    const abort = new AbortController()
    const model = alwaysModel(() => {
      abort.abort(new Error('enough'))
      return { stall: true }
    })
    const { signal } = abort
    const options = { agent: new Agent({ model }), cases: casesOf(9), scorers: { any: () => 1 }, signal }
    await expect(evaluate({ ...options, concurrency: 1 })).rejects.toThrow('enough')
    expect(model.calls).toBe(1)
  })

  it('starts no trial beyond its budget, and counts those as invalid', async () => {
    const agent = echo()
    const { cases, usage } = await evaluate({
      agent,
      cases: casesOf(2),
      scorers: { any: () => 1 },
      budget: { calls: 4 },
      concurrency: 1,
    })
    expect(usage.calls).toBe(4)
    expect(cases[1]?.trials.map(({ status }) => status)).toEqual(['completed', 'lost', 'lost'])
  })

  it('tells the progress after each trial', async () => {
    const seen: string[] = []
    await evaluate({
      agent: echo(),
      cases: casesOf(2),
      scorers: { any: () => 1 },
      trials: 1,
      concurrency: 1,
      onProgress: ({ done, total, case: id }) => seen.push(`${id} ${done}/${total}`),
    })
    expect(seen).toEqual(['case-1 1/2', 'case-2 2/2'])
  })

  it.each([
    [{ cases: [] }, /needs cases/],
    [
      {
        cases: [
          { input: 'a', id: 'x' },
          { input: 'b', id: 'x' },
        ],
      },
      /position 2 has the id "x" of the case at position 1/,
    ],
    [{ cases: [{ prompt: 'a' }] }, /does not know the option prompt. It is called input/],
    [{ scorers: {} }, /needs scorers/],
    [{ trials: 0 }, /trials .* from 1 to 1,000, not 0/],
    [{ gates: { anz: { min: 1 } } }, /gate for "anz", but no such scorer/],
    [{ gates: { any: { maxDrop: 5 } } }, /Shares are written as 0.05, not 5/],
    [
      { gates: { any: { min: 0.9, maxDrop: 0.1 } } },
      /must be { min }, { maxDrop } or { maxRatio }.*not { min, maxDrop }/,
    ],
    [{ baseline: { version: 2, cases: [] } }, /The baseline is a report of version 2/],
    [{ calibration: { other: {} } }, /calibration of "other", but no such scorer/],
    [{ tries: 1 }, /does not know the option tries/],
  ])('rejects %j', async (wrong, message) => {
    const options = { agent: echo(), cases: casesOf(1), scorers: { any: () => 1 }, ...wrong }
    await expect(evaluate(options as never)).rejects.toThrow(message)
  })
})

function fits(check: (value: unknown) => boolean) {
  const validate = (value: unknown) => (check(value) ? { value } : { issues: [{ message: 'wrong' }] })
  return { '~standard': { version: 1 as const, vendor: 'test', validate } }
}
