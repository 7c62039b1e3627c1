import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evaluate, parseCases, readCases, readReport, writeReport } from '../src/index.ts'
import { answering, casesOf } from './kit.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evals-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('cases from JSON Lines', () => {
  it('have the number of their line as id, unless they have one', () => {
    expect(parseCases('{"input":"a"}\r\n\n{"id":"b","input":"b","expected":1,"tags":["x"],"group":"g"}\n')).toEqual([
      { id: 'line-1', input: 'a' },
      { id: 'b', input: 'b', expected: 1, tags: ['x'], group: 'g' },
    ])
  })

  it('are read from a file', async () => {
    const path = join(folder, 'cases.jsonl')
    await writeFile(path, '\uFEFF{"input":[{"role":"user","content":"Hi"}]}')
    expect(await readCases(path)).toEqual([{ id: 'line-1', input: [{ role: 'user', content: 'Hi' }] }])
  })

  it.each([
    ['{"input":"a"}\n{"input":', 2, /cases.jsonl, line 2, is not JSON/],
    ['{"input":"a"}\n\n{"expected":1}', 3, /line 3, has no input/],
    ['{"input":"a","question":"b"}', 1, /line 1, does not know the option question. It is called input/],
    ['["a"]', 1, /line 1, /],
    ['{"id":"x","input":"a"}\n{"id":"x","input":"b"}', 2, /line 2, has the id "x" of line 1/],
    [`{"input":"${'a'.repeat(1_000_000)}"}`, 1, /line 1, has 1000012 characters/],
    ['{"input":"a"}\n'.repeat(10_001), 10_001, /line 10001, is one more than the 10000 cases/],
  ])('report the line of a mistake', (jsonl, line, message) => {
    expect(() => parseCases(jsonl, 'cases.jsonl')).toThrow(
      expect.objectContaining({ code: 'options.invalid', details: { line }, message: expect.stringMatching(message) }),
    )
  })
})

describe('a stored report', () => {
  it('is read as it was written, and serves as a baseline', async () => {
    const path = join(folder, 'baseline.json')
    const options = { agent: answering(() => 'Hi.'), cases: casesOf(30), scorers: { hi: () => 1 }, trials: 1 }
    await writeReport(path, await evaluate(options))
    const baseline = await readReport(path)
    expect(baseline).toEqual(await evaluate(options).then((report) => ({ ...report, cases: baseline.cases })))
    const { verdict } = await evaluate({ ...options, baseline, gates: { hi: { maxDrop: 0.1 } } })
    expect(verdict).toBe('pass')
  })

  it.each([
    ['{"version":2}', /a report of version 2/],
    ['{"cases":[{}]}', /no report of evaluate\(\)/],
    ['nonsense', /is not JSON/],
  ])('is refused if it is %s', async (text, message) => {
    const path = join(folder, 'wrong.json')
    await writeFile(path, text)
    await expect(readReport(path)).rejects.toThrow(message)
  })
})
