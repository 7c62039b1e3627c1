import { mkdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EvalReport } from '@allium/evals'
import { expect, test } from 'vitest'
import { caseView } from '../src/host/evals/case-view.ts'
import { reportFiles } from '../src/host/evals/report-files.ts'
import { reportView } from '../src/host/evals/report-view.ts'
import { watchReports } from '../src/host/evals/watch-reports.ts'
import { evalReport, projectFolder } from './eval-report.ts'

test('lists the reports of the project, newest first, and reads none outside its folder', async () => {
  const { cwd, write } = projectFolder(tmpdir())
  const files = reportFiles(cwd)
  expect(await files.list()).toEqual([])
  write('.allium/evals/answers.json', await evalReport())
  write('secret.json', await evalReport())
  symlinkSync(join(cwd, 'secret.json'), join(cwd, '.allium/evals/link.json'))
  expect((await files.list()).map(({ name }) => name)).toEqual(['answers'])
  for (const name of ['../../secret', '..', 'link', '', 'answers.json\0'])
    await expect(files.report(name)).rejects.toMatchObject({ status: 404 })
})

test('shows the gates with their interval, and the cases that fail or differ from the baseline', async () => {
  const { cwd, write } = projectFolder(tmpdir())
  const baseline = await evalReport()
  write('.allium/evals/answers.json', await evalReport(['refund'], baseline))
  write('evals/answers.baseline.json', baseline)
  const { gates, cases, ...report } = await reportFiles(cwd).report('answers')
  expect(report).toMatchObject({ verdict: 'undecided', scorers: ['equals'], baseline: 'evals/answers.baseline.json' })
  expect(gates).toMatchObject([
    { scorer: 'equals', kind: 'maxDrop', limit: 0.1, interval: [expect.any(Number), expect.any(Number)] },
  ])
  expect(cases[0]).toMatchObject({ id: 'refund', isFailing: true, change: 'scores', means: [{ mean: 0, before: 1 }] })
  expect(cases[1]).toMatchObject({ id: 'hello', isFailing: false, invalid: 0, change: undefined })
})

test('a case has its trials beside those of the baseline', async () => {
  const { cwd, write } = projectFolder(tmpdir())
  write('.allium/evals/answers.json', await evalReport(['refund']))
  write('evals/answers.baseline.json', await evalReport())
  const { trials, before } = await reportFiles(cwd).caseOf('answers', 'refund')
  expect(trials).toMatchObject([{ text: '<b>I do not know.</b>', scores: [{ scorer: 'equals', score: 0 }] }, {}])
  expect(before).toMatchObject([{ text: 'You get the money back.', scores: [{ score: 1 }] }, {}])
  await expect(reportFiles(cwd).caseOf('answers', 'other')).rejects.toMatchObject({ status: 404 })
})

test('fields of a wrong type in a report are left out, and long texts are cut', () => {
  const scores = { x: { score: 'high', reason: 7 }, y: null }
  const trial = { scores, text: 'a'.repeat(1e6), calls: 'none', decisions: [1] }
  const gates = [7, { scorer: [], gate: { min: 'a' } }, { gate: { min: 0.5 }, verdict: 'great' }]
  const cases = [{ id: 'a', digest: 'b', tags: 4, trials: [trial] }]
  const odd = { version: 1, gates, agent: 3, cases } as unknown as EvalReport
  const view = reportView({ name: 'odd', at: 1 }, odd, undefined)
  expect(view).toMatchObject({ agent: '', gates: [], cases: [{ id: 'a', tags: [] }] })
  const [shown] = caseView(odd, 'a', undefined)?.trials ?? []
  expect(shown).toMatchObject({ calls: [], scores: [{ scorer: 'x' }, { scorer: 'y' }] })
  expect(shown?.text.length).toBeLessThan(21_000)
})

test('a file that is no report says so', async () => {
  const { cwd, write } = projectFolder(tmpdir())
  write('.allium/evals/broken.json', '{ "version": 1')
  await expect(reportFiles(cwd).report('broken')).rejects.toMatchObject({ status: 422, message: /is not JSON/ })
})

test('a report that is written later is noticed, also in a new folder', async () => {
  const { cwd, write } = projectFolder(tmpdir())
  mkdirSync(join(cwd, 'src'))
  let changes = 0
  const stop = await watchReports(cwd, () => changes++)
  write('src/agent.json', {})
  write('.allium/evals/answers.json', {})
  await expect.poll(() => changes, { timeout: 10_000 }).toBe(1)
  await stop()
})
