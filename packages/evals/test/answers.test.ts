import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, defineTool, delegate, type Model } from '@allium/core'

import { scriptedModel } from '@allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { type AnswersMode, openAnswers } from '../src/answers/index.ts'
import { calibrate, type EvaluateOptions, evaluate, score } from '../src/index.ts'
import { textReport } from '../src/report.ts'
import { alwaysModel, answering } from './kit.ts'

/** A model that no test may reach. */
const down: Model = {
  id: 'scripted/model',
  // biome-ignore lint/correctness/useYield: it fails at once.
  async *stream() {
    throw new Error('There is no network.')
  },
}

async function file(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'allium-answers-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'evals/support.answers.jsonl')
}

const cases = [{ input: 'Where is order 17?' }, { input: 'Where is order 18?' }]
const scorers = { found: score.contains('order') }

async function run(path: string, mode: AnswersMode, options: Partial<EvaluateOptions<unknown, string>> = {}) {
  const answers = await openAnswers(path, { mode })
  const agent = new Agent({ model: down })
  const report = await evaluate({ agent, cases, scorers, trials: 2, concurrency: 1, answers, ...options })
  return {
    report,
    summary: await answers.save(),
    texts: report.cases.map(({ trials }) => trials.map(({ text }) => text)),
  }
}

const lines = async (path: string) => (await readFile(path, 'utf8')).trim().split('\n')

test('answers from the file in a replay, and calls no model', async () => {
  const path = await file()
  let calls = 0
  const agent = answering((input) => `Found ${input.slice(9)} (${++calls})`)
  const live = await run(path, 'record', { agent: agent })
  const replayed = await run(path, 'replay')
  expect(live.texts[1]).toEqual(['Found order 18? (3)', 'Found order 18? (4)'])
  expect(replayed.texts).toEqual(live.texts)
  expect(replayed.report.usage).toEqual(live.report.usage)
  expect(replayed.summary).toEqual({ used: 4, stale: 0, recorded: 0, missing: 0, tooLarge: 0 })
})

test('one line answers all trials if they got the same answer, and two runs write the same file', async () => {
  const path = await file()
  const agent = answering((input) => `Found ${input.slice(9)}`)
  await run(path, 'record', { agent })
  const first = await lines(path)
  expect(first).toHaveLength(2)
  expect(JSON.parse(first[0] as string)).toMatchObject({ model: 'scripted/model', repeat: 0, trials: 2 })
  await run(path, 'record', { agent, concurrency: 4 })
  expect(await lines(path)).toEqual(first)
})

test('a request that was not recorded makes its trials invalid, and never gets the nearest answer', async () => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  const near = [cases[0], { input: 'Where is order 18 ?' }] as typeof cases
  const { report, summary } = await run(path, 'replay', { cases: near })
  expect(report.cases.map(({ trials }) => trials[0]?.status)).toEqual(['completed', 'lost'])
  expect(report.cases[1]?.trials[0]?.scores.found).toEqual({ invalid: expect.stringContaining('Record the answers') })
  expect(summary).toMatchObject({ used: 1, stale: 1, missing: 2 })
})

test('a report says to record missing answers again, once for all trials', async () => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  const { report } = await run(path, 'replay', {
    agent: new Agent({ model: down, instructions: 'Be brief.' }),
    gates: { found: { min: 0.5 } },
  })
  const text = textReport(report, { width: 200 })
  expect(text).toContain('4 trials without a score: The run gave no answer: No answer of "scripted/model" is recorded')
  expect(text).toContain('Record the answers again.')
})

test('a layer that replaces errors by answers cannot hide a missing answer', async () => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  const agent = new Agent({ model: down, instructions: 'Be brief.' }).use('model', async (ctx, next) => {
    try {
      return await next()
    } catch {
      return ctx.skipCall('Some order.')
    }
  })
  const { report } = await run(path, 'replay', { agent })
  expect(report.cases[0]?.trials[0]).toMatchObject({
    status: 'lost',
    scores: { found: { invalid: expect.anything() } },
  })
})

test('a layer that passes a recorded call on has decided nothing', async () => {
  const path = await file()
  const pass = (model: Model) => new Agent({ model }).use('model', (_, next) => next())
  const live = await run(path, 'record', { agent: pass(alwaysModel('The order is here.')) })
  const replayed = await run(path, 'replay', { agent: pass(down) })
  for (const { report } of [live, replayed])
    expect(report.cases.flatMap(({ trials }) => trials.flatMap(({ decisions }) => decisions))).toEqual([])
})

test('more trials than were recorded are invalid', async () => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  const { report } = await run(path, 'replay', { trials: 3 })
  expect(report.cases[0]?.trials.map(({ status }) => status)).toEqual(['completed', 'completed', 'lost'])
})

test('records tool calls, and the errors between attempts of a retry', async () => {
  const path = await file()
  const tool = defineTool({
    name: 'find',
    description: 'Finds',
    jsonSchema: { type: 'object' },
    execute: () => 'on its way',
  })
  const agentWith = (model: Model) =>
    new Agent({ model, tools: [tool] }).use('model', async (_, next) => {
      try {
        return await next()
      } catch {
        return await next()
      }
    })
  const steps = [
    { toolCalls: [{ name: 'find', callId: 'a', args: { id: 17 } }] },
    new Error('overloaded'),
    'Your order is on its way.',
  ]
  const model = scriptedModel([...steps, ...steps])
  const only = { cases: cases.slice(0, 1), scorers: { retried: score.decided({ decision: 'retried' }) } }
  const live = await run(path, 'record', { ...only, agent: agentWith(model) })
  const replayed = await run(path, 'replay', { ...only, agent: agentWith(down) })
  expect(live.report.cases[0]?.trials[0]?.calls).toMatchObject([{ name: 'find', args: { id: 17 } }])
  expect(withoutTimes(replayed.report)).toEqual(withoutTimes(live.report))
  expect(await lines(path)).toHaveLength(3)
})

test('records sub-agents, and judges of the answer', async () => {
  const path = await file()
  const agentsOf = (lead: Model, inner: Model, judge: Model) => {
    const helper = new Agent({ name: 'helper', model: inner })
    const ask = defineTool({
      name: 'ask',
      description: 'Asks the helper',
      jsonSchema: { type: 'object' },
      execute: async (_, ctx) => (await delegate(ctx, helper, 'Where is it?'))?.text,
    })
    return {
      agent: new Agent({ model: lead, tools: [ask] }),
      scorers: { judged: score.judge({ model: judge, rubric: 'It says where.' }) },
    }
  }
  const asks = { toolCalls: [{ name: 'ask', callId: 'a', args: {} }] }
  const grade = JSON.stringify({ reason: 'It does.', grade: 5 })
  const models = [scriptedModel([asks, 'The order is in Oslo.']), scriptedModel(['Oslo.']), alwaysModel(grade)] as const
  const only = { cases: cases.slice(0, 1), trials: 1 }
  const live = await run(path, 'record', { ...only, ...agentsOf(...models) })
  const replayed = await run(path, 'replay', { ...only, ...agentsOf(down, down, down) })
  expect(live.summary.recorded).toBe(4)
  expect(replayed.report.scorers.judged?.score).toBe(1)
  expect(replayed.summary).toMatchObject({ used: 4, missing: 0 })
})

test('a judge without a recorded answer is invalid, and the answer itself is not', async () => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  const judged = { judged: score.judge({ model: down, rubric: 'It says where.' }), ...scorers }
  const { report } = await run(path, 'replay', { scorers: judged })
  expect(report.cases[0]?.trials[0]?.scores).toMatchObject({
    judged: { invalid: expect.anything() },
    found: { score: 1 },
  })
})

test('recording only what is missing keeps the other answers, and removes those that no request asked for', async () => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  const [first] = await lines(path)
  const more = [cases[0], { input: 'Where is order 19?' }] as typeof cases
  const { summary } = await run(path, 'missing', { cases: more, agent: answering(() => 'Order 19 is there.') })
  expect(summary).toMatchObject({ used: 1, stale: 1, recorded: 2, missing: 0 })
  expect((await lines(path))[0]).toBe(first)
  expect((await run(path, 'replay', { cases: more })).summary).toMatchObject({ used: 2, stale: 0, missing: 0 })
})

test('keeps answers of other cases if a part of the cases is recorded', async () => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  const answers = await openAnswers(path, { mode: 'record' })
  const agent = answering(() => 'The order is there.')
  await evaluate({ agent, cases: cases.slice(0, 1), scorers, trials: 2, answers })
  await answers.save({ prune: false })
  expect((await run(path, 'replay')).texts.map(([text]) => text)).toEqual(['The order is there.', 'The order is here.'])
})

test('writes no credentials, and neither texts nor answers that scrub removes', async () => {
  const path = await file()
  const key = 'sk-9fK2mQ7xT4vB8nL1cR6yW3zD5hJ0gP'
  const answers = await openAnswers(path, { mode: 'record', scrub: [/\d\d:\d\d/] })
  const agent = answering(() => `At 12:30 with ${key} here.`).use('model', (ctx, next) => {
    ctx.settings.headers = { 'x-api-key': key }
    return next()
  })
  await evaluate({ agent, cases, scorers, trials: 1, answers })
  await answers.save()
  const text = await readFile(path, 'utf8')
  expect(text).not.toContain(key)
  expect(text).not.toContain('12:30')
})

test.each([
  ['not JSON', 'is not JSON'],
  ['{"request":"a","repeat":0,"trials":1,"model":"m","chunks":[1]}', 'is no recorded answer'],
  ['{"request":"a","repeat":-1,"trials":1,"model":"m","chunks":[]}', 'is no recorded answer'],
  [`{"model":"${'m'.repeat(1_000_001)}"}`, 'the maximum is 1000000'],
])('names the wrong line of a file: %.60s', async (line, message) => {
  const path = await file()
  await run(path, 'record', { agent: answering(() => 'The order is here.') })
  await appendFile(path, `${line}\n`)
  const error = await openAnswers(path, { mode: 'replay' }).catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'options.invalid', details: { line: 3 } })
  expect(error.message).toContain(message)
})

test('says how to record if there is no file, and which modes there are', async () => {
  const path = await file()
  await expect(openAnswers(path, { mode: 'replay' })).rejects.toThrow('There are no recorded answers at')
  await expect(openAnswers(path, { mode: 'auto' as never })).rejects.toThrow(
    'takes replay, record, missing, not "auto"',
  )
  await expect(openAnswers(path, { mode: 'record', scrubs: [] } as never)).rejects.toThrow('Did you mean "scrub"?')
})

function withoutTimes(report: Awaited<ReturnType<typeof evaluate>>) {
  return report.cases.map(({ trials }) => trials.map(({ duration: _, ...trial }) => trial))
}

test('a judge is calibrated from recorded answers, and a label without one is invalid', async () => {
  const path = await file()
  const labels = ['On 4 May.', 'Soon.'].map((text) => ({ input: 'When?', text, good: text.startsWith('On') }))
  const compare = async (model: Model, mode: AnswersMode, more: typeof labels = []) => {
    const answers = await openAnswers(path, { mode })
    const scorer = score.judge({ model, rubric: 'It names a date.' })
    const calibration = await calibrate({ scorer, labels: [...labels, ...more], answers, concurrency: 1 })
    return { calibration, summary: await answers.save() }
  }
  const grade = (grade: number) => JSON.stringify({ reason: 'Its date.', grade })
  const live = await compare(scriptedModel([grade(5), grade(1)]), 'record')
  const replayed = await compare(down, 'replay')
  expect(replayed).toEqual({ ...live, summary: { used: 2, stale: 0, recorded: 0, missing: 0, tooLarge: 0 } })
  expect(replayed.calibration).toMatchObject({ agreement: 1, invalid: [] })
  const { calibration, summary } = await compare(down, 'replay', [{ input: 'When?', text: 'Later.', good: false }])
  expect([calibration.invalid, summary.missing]).toEqual([['case-3'], 1])
})
