import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluate, readReport } from '@allium/evals'
import { openAnswers } from '@allium/evals/answers'
import { textReport } from '@allium/evals/report'
import type { Model } from 'allium'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runExample } from '../../run-example.ts'
import { playedModel } from '../src/played-model.ts'
import { createSupportAgent, type SupportOptions } from '../src/support-agent.ts'
import { supportEval } from '../src/support-eval.ts'

const committed = (name: string) => new URL(`../evals/support.${name}`, import.meta.url).pathname

/** The model of an environment without a key. */
const unreachable: Model = {
  id: playedModel.id,
  stream() {
    throw new Error('There is no key.')
  },
}

async function evaluated(options: Omit<SupportOptions, 'model'> & { model?: Model }, answersPath?: string) {
  const definition = await supportEval(createSupportAgent({ model: playedModel, ...options }))
  const baseline = await readReport(committed('baseline.json'))
  const mode = answersPath === committed('answers.jsonl') ? 'replay' : 'record'
  const answers = answersPath === undefined ? undefined : await openAnswers(answersPath, { mode })
  const report = await evaluate({ ...definition, baseline, answers })
  return { report, summary: await answers?.save(), text: textReport(report, { baseline }) }
}

describe('the evaluation of the support agent', { timeout: 60_000 }, () => {
  it('passes with the recorded answers, without a model', async () => {
    const { report, summary } = await evaluated({ model: unreachable }, committed('answers.jsonl'))
    expect(report.cases).toHaveLength(100)
    expect(report.verdict).toBe('pass')
    expect(summary).toMatchObject({ missing: 0, stale: 0 })
  })

  it('records the same answers as those in the repository', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'allium-example-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await evaluated({}, join(folder, 'answers.jsonl'))
    expect(await readFile(join(folder, 'answers.jsonl'), 'utf8')).toBe(
      await readFile(committed('answers.jsonl'), 'utf8'),
    )
  })

  it.each([
    [
      'delivered',
      'calls',
      /monitor-refund {2}0, was 1\n +It called "find_order", "refund"\.\n +"guard:policy" denied refund \(new\)/,
    ],
    ['price', 'amount', /lamp-hundred {2}0, was 1\n +It called refund with {"number":"1001","cents":10000}/],
    ['lookUp', 'calls', /where-monitor {2}0, was 1\n +It called no tool\./],
  ] as const)('fails if the prompt loses the rule "%s", and names the case', async (without, gate, line) => {
    const { report, text } = await evaluated({ without })
    expect(report.verdict).toBe('fail')
    expect(report.gates.find(({ scorer }) => scorer === gate)?.verdict).toBe('fail')
    expect(text).toMatch(line)
  })

  it('fails if the policy is removed, and names the case and the layer', async () => {
    const { report, text } = await evaluated({ hasPolicy: false })
    expect(report.gates.filter(({ verdict }) => verdict === 'fail').map(({ scorer }) => scorer)).toEqual([
      'amount',
      'guarded',
    ])
    expect(text).toMatch(/sofa-stain {2}0, was 1\n +Missing: "guard:policy" denied refund\. Decisions: none\./)
  })

  it('cannot answer for a changed prompt from the recording: each such trial is invalid', async () => {
    const { report } = await evaluated({ model: unreachable, without: 'note' }, committed('answers.jsonl'))
    expect(report.verdict).toBe('invalid')
    expect(report.cases.every(({ trials }) => trials[0]?.status === 'lost')).toBe(true)
  })

  it('runs as a program that shows all three', async () => {
    const { code, out, err } = await runExample(import.meta.url)
    expect([code, err]).toEqual([0, ''])
    expect(out.match(/^support: 100 cases, 1 trial each.*: \w+$/gm)).toHaveLength(3)
    expect(out).toMatch(/^344 recorded answers used, 0 unused, 0 missing$/m)
  })
})
