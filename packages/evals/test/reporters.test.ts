import { describe, expect, it } from 'vitest'
import { markdownReport, textReport } from '../src/report.ts'
import { hostile, reportOf, worse } from './report-kit.ts'

describe('textReport()', () => {
  it('names the verdict, the gate with its interval, and the cases with the layer that decided', async () => {
    const { report, baseline } = await worse()
    const lines = textReport(report, { baseline }).split('\n')
    expect(lines[0]).toBe('desk: 60 cases, 1 trial each, compared with a baseline: fail')
    expect(lines).toContainEqual(
      expect.stringMatching(/^fail {7}right {3}drop < 10 points {2}40 points \(26\.\d to 51\.\d\)$/),
    )
    const at = lines.indexOf('right: drop < 10 points')
    expect(lines.slice(at + 1, at + 4)).toEqual([
      '  order 1  0, was 1',
      '      It was refused. Yes.',
      '      "limit" denied refund (new)',
    ])
    expect(lines).toContain('  and 14 more cases')
  })

  it('says which decisions of the baseline are missing', async () => {
    const { report, baseline } = await worse()
    const better = { ...baseline, gates: [{ ...report.gates[0], gate: { min: 0.99 }, verdict: 'fail' as const }] }
    better.cases = better.cases.map((one) => ({
      ...one,
      trials: one.trials.map((trial) => ({ ...trial, scores: { right: { score: 0 } } })),
    }))
    expect(textReport(better as never, { baseline: report })).toContain('"limit" denied refund (no longer)')
  })

  it('says what an undecided gate needs', async () => {
    const text = textReport(await reportOf({ cases: 10, gates: { right: { min: 0.9 } } }))
    expect(text.replace(/\s+/g, ' ')).toContain(
      'With 10 cases, this gate cannot pass, even if all of them succeed. It needs at least 29 cases.',
    )
  })

  it('counts the reasons of trials without a score', async () => {
    const text = textReport(await reportOf({ invalid: 30, gates: { right: { min: 0.5 } } }))
    expect(text).toContain('  30 trials without a score: 503 busy')
  })

  it.each([40, 60, 100])('has no line that is wider than %d columns', async (width) => {
    const { report, baseline } = await worse('返金 '.repeat(10))
    const lines = textReport(report, { baseline, width }).split('\n')
    expect(lines.filter((line) => columns(line) > width)).toEqual([])
  })

  it('has colors only if they are wanted', async () => {
    const { report } = await worse()
    expect(textReport(report)).not.toContain('\u001b')
    expect(textReport(report, { color: true })).toContain('\u001b[31mfail\u001b[0m')
  })

  it('shows no control characters of an answer', async () => {
    const { report, baseline } = await worse(hostile)
    expect(textReport(report, { baseline })).not.toMatch(/[^\P{C}\n]/u)
  })
})

describe('markdownReport()', () => {
  it('names the case, the layer and the difference to the baseline', async () => {
    const { report, baseline } = await worse()
    const text = markdownReport(report, { baseline })
    expect(text).toContain('### Evals of `desk`: fail')
    expect(text).toContain('| **fail** | `right` | drop < 10 points | 40 points (')
    expect(text).toContain('| `order 1` | 0 | 1 | It was refused. Yes. | `"limit" denied refund (new)` |')
  })

  it('shows markup of an answer as text', async () => {
    const { report, baseline } = await worse(hostile)
    const text = markdownReport(report, { baseline })
    expect(text).not.toMatch(/@team|<script|<img|\[x\]|[^\P{C}\n]/u)
    expect(text).toContain('&#60;script&#62;')
  })

  it('fits into a comment of GitHub', async () => {
    const { report, baseline } = await worse('<>'.repeat(500))
    const parts = Array.from({ length: 12 }, (_, at) => ({ name: `${at}${'<'.repeat(200)}`, report, baseline }))
    const text = markdownReport(parts)
    expect(text.length).toBeLessThan(65_536)
    expect(text).toMatch(/\d+ more parts did not fit/)
  })

  it('has several evaluations, each with its name, and names it where it lists what counts against a gate', async () => {
    const { report, baseline } = await worse()
    const invalid = await reportOf({ cases: 12, invalid: 6, gates: { right: { min: 0.5 } } })
    const text = markdownReport([
      { name: 'support', report, baseline },
      { name: 'sales', report: invalid },
    ])
    expect(text.match(/^### .*/gm)).toEqual(['### Evals of `support`: fail', '### Evals of `sales`: invalid'])
    expect(text.match(/<summary>.*(?=<)/g)).toEqual([
      '<summary>support: right, drop &#60; 10 points: 24 cases against it',
      '<summary>sales: right, mean &#62; 0.5: trials without a score',
    ])
  })
})

describe('a report from a file', () => {
  it.each([
    ['without its gates', { gates: undefined }],
    ['with a gate that is no gate', { gates: [{ scorer: 'right' }] }],
    ['with a case that is no case', { cases: [{ id: 1 }] }],
    ['without usage', { usage: {} }],
    ['with a name that is no text', { agent: { name: ['x'] } }],
  ])('is refused %s', async (_, wrong) => {
    const report = { ...(await reportOf({ cases: 3 })), ...wrong } as never
    expect(() => markdownReport(report)).toThrow('The report of markdownReport() is no report of evaluate()')
  })
})

function columns(line: string): number {
  return [...line].reduce((sum, character) => sum + (/[\u3000-\u9fff]/.test(character) ? 2 : 1), 0)
}
