import { Agent, defineMiddleware, type Middleware } from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { calibrate, type EvalCase, evaluate, type Scorer, score } from '../src/index.ts'
import { alwaysModel, answering } from './kit.ts'

const refund = { name: 'refund', description: 'Refunds', jsonSchema: { type: 'object' }, execute: () => 'done' }
const find = { ...refund, name: 'find' }
const calling = () =>
  new Agent({
    model: scriptedModel([
      { toolCalls: [{ name: 'find', args: { id: 7 } }] },
      { toolCalls: [{ name: 'refund', args: { amount: 900, to: { iban: 'DE1' } } }] },
      'Refunded 900 Euro.',
    ]),
    tools: [refund, find],
  })

async function scoreOf(scorer: Scorer, agent = calling(), one: Partial<EvalCase> = {}) {
  const report = await evaluate({ agent, cases: [{ input: 'Hi', ...one }], scorers: { it: scorer }, trials: 1 })
  return report.cases[0]?.trials[0]?.scores.it
}

describe('scorers', () => {
  it.each<[string, Scorer, number]>([
    ['contains', score.contains('900', 'euro'), 1],
    ['contains all', score.contains('900', 'dollar'), 0],
    ['equals', score.equals(' refunded 900 euro.'), 1],
    ['equals another', score.equals('Refunded'), 0],
    ['matches', score.matches(/\d+ Euro/g), 1],
    ['matches nothing', score.matches(/^\d+$/), 0],
    ['calls', score.calls(['refund']), 1],
    ['calls half', score.calls(['refund', 'mail']), 0.5],
    ['calls exactly', score.calls(['find', 'refund'], { exact: true }), 1],
    ['calls in another order', score.calls(['refund', 'find'], { exact: true }), 0],
    ['calledWith a part', score.calledWith('refund', { to: { iban: 'DE1' } }), 1],
    ['calledWith others', score.calledWith('refund', { amount: 90 }), 0],
    ['calledWith a function', score.calledWith('refund', ({ amount }) => Number(amount) > 500), 1],
    ['steps within', score.steps({ max: 3 }), 1],
    ['steps above', score.steps({ max: 2 }), 0],
    ['tokens within', score.tokens({ max: 45 }), 1],
    ['cost above', score.cost({ max: 0.1, price: ({ outputTokens }) => outputTokens / 10 }), 0],
    ['latency', score.latency({ max: 60_000 }), 1],
    ['nothing refused', score.notDecided(), 1],
    ['an own function', ({ text }) => text.length === 18, 1],
  ])('%s', async (_, scorer, expected) => {
    expect(await scoreOf(scorer)).toMatchObject({ score: expected })
  })

  it('compare with what the case expects', async () => {
    expect(await scoreOf(score.contains(), calling(), { expected: ['900', 'Euro'] })).toEqual({ score: 1 })
    expect(await scoreOf(score.calls(), calling(), { expected: ['mail'] })).toMatchObject({ score: 0 })
    expect(await scoreOf(score.contains())).toMatchObject({ invalid: expect.stringMatching(/no text to compare/) })
  })

  it('find the decision of a layer', async () => {
    const cap = defineMiddleware({
      name: 'cap',
      tool: (ctx, next) => (Number(ctx.args.amount) > 500 ? ctx.deny('Above 500.') : next()),
    })
    const denied = { layer: 'cap', decision: 'denied', tool: 'refund', reason: /above 500/i } as const
    expect(await scoreOf(score.decided(denied), calling().use(cap))).toEqual({ score: 1 })
    expect(await scoreOf(score.notDecided(), calling().use(cap))).toEqual({
      score: 0,
      reason: 'Decisions: "cap" denied refund.',
    })
    expect(await scoreOf(score.decided(denied))).toEqual({
      score: 0,
      reason: 'Missing: "cap" denied refund, /above 500/i. Decisions: none.',
    })
  })

  it('check the answer by a schema', async () => {
    const isPoint = (value: unknown) => typeof (value as { x?: unknown })?.x === 'number'
    const validate = (value: unknown) => (isPoint(value) ? {} : { issues: [{ message: 'x is missing' }] })
    const shape = score.schema({ '~standard': { validate } })
    expect(
      await scoreOf(
        shape,
        answering(() => '{"x":1}'),
      ),
    ).toEqual({ score: 1 })
    expect(
      await scoreOf(
        shape,
        answering(() => '{}'),
      ),
    ).toEqual({ score: 0, reason: 'x is missing' })
    expect(
      await scoreOf(
        shape,
        answering(() => 'x'),
      ),
    ).toEqual({ score: 0, reason: 'It is not JSON.' })
  })
})

const grade = (value: number) => JSON.stringify({ reason: 'because', grade: value })
const hi = () => answering(() => 'Hi.')

describe('a judge', () => {
  it('grades from 1 to 5 by its rubric, with a reason', async () => {
    const model = alwaysModel(grade(4))
    const scorer = score.judge({ model, rubric: 'It greets.' })
    expect(await scoreOf(scorer, hi(), { expected: 'a greeting' })).toEqual({ score: 0.75, reason: 'because' })
    const [system, question] = model.requests[0]?.messages ?? []
    expect(system?.content).toMatch(/Rubric: It greets\./)
    expect(JSON.parse(String(question?.content))).toEqual({ input: 'Hi', answer: 'Hi.', expected: 'a greeting' })
  })

  it('makes the trial invalid with nonsense, and after its timeout', async () => {
    const rubric = 'It greets.'
    const nonsense = await scoreOf(score.judge({ model: alwaysModel('Great!'), rubric }), hi())
    const clock = manualClock()
    const model = alwaysModel(() => {
      queueMicrotask(() => void clock.advance(60_000))
      return { stall: true }
    })
    const late = await scoreOf(score.judge({ model, rubric, clock }), hi())
    expect(nonsense).toHaveProperty('invalid')
    expect(late).toEqual({ invalid: 'The judge did not answer within 60000 ms.' })
  })

  it('runs through its own layers, and its tokens are counted apart', async () => {
    const retry: Middleware = { name: 'retry', model: (_ctx, next) => next().catch(() => next()) }
    const model = scriptedModel([new Error('busy'), grade(5)])
    const report = await evaluate({
      agent: hi(),
      cases: [{ input: 'Hi' }],
      scorers: { polite: score.judge({ model, rubric: 'It greets.', use: [{ ...retry, reenters: true }] }) },
      trials: 1,
    })
    expect(report.cases[0]?.trials[0]?.scores.polite).toMatchObject({ score: 1 })
    expect(report.scorerUsage.calls).toBe(2)
    expect(report.usage.calls).toBe(1)
  })

  it('compares pairs in both orders, and calls a preference for a place a tie', async () => {
    const baseline = await evaluate({ agent: hi(), cases: [{ input: 'Hi' }], scorers: { any: () => 1 }, trials: 1 })
    const choosing = async (better: (question: { first: string }) => string) => {
      const model = alwaysModel(({ messages }) =>
        JSON.stringify({ reason: 'because', better: better(JSON.parse(String(messages.at(-1)?.content))) }),
      )
      const scorers = { better: score.pairwise({ model, rubric: 'It greets.' }) }
      const agent = answering(() => 'Hello.')
      const report = await evaluate({ agent, cases: [{ input: 'Hi' }], scorers, baseline, trials: 1 })
      return report.cases[0]?.trials[0]?.scores.better
    }
    expect(await choosing(({ first }) => (first === 'Hello.' ? 'first' : 'second'))).toMatchObject({ score: 1 })
    expect(await choosing(({ first }) => (first === 'Hello.' ? 'second' : 'first'))).toMatchObject({ score: 0 })
    expect(await choosing(() => 'first')).toMatchObject({ score: 0.5, reason: expect.stringMatching(/depends on/) })
  })

  it('is compared with labels of people', async () => {
    const grades: Record<string, number> = { good: 5, fine: 4, bad: 1, sly: 5 }
    const model = alwaysModel(({ messages }) => {
      const { answer } = JSON.parse(String(messages.at(-1)?.content)) as { answer: string }
      return grades[answer] === undefined ? 'nonsense' : grade(grades[answer])
    })
    const labels = Object.entries({ good: true, fine: true, bad: false, sly: false, lost: true }).map(
      ([text, isGood]) => ({ id: text, input: 'Hi', text, good: isGood }),
    )
    const calibration = await calibrate({ scorer: score.judge({ model, rubric: 'It is good.' }), labels })
    expect(calibration).toMatchObject({
      agreement: 0.6,
      kappa: 0.5,
      labels: 5,
      acceptedWrongly: ['sly'],
      rejectedWrongly: [],
      invalid: ['lost'],
    })
    const options = { agent: hi(), cases: [{ input: 'Hi' }], trials: 1, calibration: { it: calibration } }
    const { scorers } = await evaluate({ ...options, scorers: { it: () => 1 } })
    expect(scorers.it?.calibration?.agreement).toBe(0.6)
  })
})
