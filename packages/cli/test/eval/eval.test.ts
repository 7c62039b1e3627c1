import { describe, expect, it } from 'vitest'
import { evalFile, project } from './project.ts'

const drop = '{ right: { maxDrop: 0.1 } }'

describe('allium eval', () => {
  it('runs the evaluations in evals/, prints their tables, and exits by the verdict', async () => {
    const { allium, read } = project({ 'evals/support.eval.ts': evalFile() })
    const { code, out, err } = await allium(['eval'])
    expect(err).toMatch(/^support: 60 trials\nsupport: 6\/60 trials\n/)
    expect(out).toMatch(/^support: 60 cases, 1 trial each: pass\n/)
    expect(out).not.toContain('\u001b')
    expect(code).toBe(0)
    expect(JSON.parse(read('.allium/evals/support.json') ?? '')).toMatchObject({ verdict: 'pass' })
  })

  it.each([
    ['fails', { lost: 60 }, [], 1],
    ['is undecided', { cases: 4 }, [], 5],
    ['is undecided, and that is allowed', { cases: 4 }, ['--allow-undecided'], 0],
    ['has no baseline', { gates: drop }, [], 6],
    ['has no gates', { gates: '{}' }, [], 0],
  ])('exits with a code of its own if a gate %s', async (_, options, argv, code) => {
    const { allium } = project({ 'evals/support.eval.ts': evalFile(options) })
    expect(await allium(['eval', ...argv])).toMatchObject({ code })
  })

  it('compares with the stored baseline, and names the cases and the layer behind a drop', async () => {
    const { allium, write, read } = project({ 'evals/support.eval.ts': evalFile({ gates: drop }) })
    const first = await allium(['eval', '--update-baseline'])
    expect(first).toMatchObject({ code: 0 })
    expect(first.err).toContain('evals/support.baseline.json is the new baseline of "support". Commit it.')
    write('evals/worse.eval.ts', evalFile({ gates: drop, lost: 30 }))
    write('evals/worse.baseline.json', read('evals/support.baseline.json') ?? '')
    const { code, out } = await allium(['eval', 'worse'])
    expect(out).toMatch(/fail +right +drop < 10 points +50 points/)
    expect(out).toContain('  case-1  0, was 1\n')
    expect(out).toContain('      "limit" denied refund (new)\n')
    expect(code).toBe(1)
  })

  it('stores no baseline that nothing could be compared with', async () => {
    const more = `scorers: { right: () => { throw new Error('down') } },`
    const { allium, read } = project({ 'evals/support.eval.ts': evalFile({ more }) })
    const { code, err } = await allium(['eval', '--update-baseline'])
    expect(err).toContain('was not stored: 60 of 60 trials have no score of "right"')
    expect([code, read('evals/support.baseline.json')]).toEqual([6, undefined])
  })

  it('runs a part of the cases, which keep their ids, and another number of trials', async () => {
    const { allium } = project({ 'evals/support.eval.ts': evalFile({ gates: '{}' }) })
    const { out } = await allium(['eval', '--json', '--cases', 'odd', '--trials', '2'])
    const { report } = JSON.parse(out)
    expect(report.cases.map(({ id }: { id: string }) => id).slice(0, 2)).toEqual(['case-1', 'case-3'])
    expect([report.cases.length, report.trials]).toEqual([30, 2])
  })

  it('writes the reports of all evaluations into one file for each format', async () => {
    const { allium, read } = project({ 'evals/a.eval.ts': evalFile(), 'evals/b.eval.ts': evalFile({ lost: 60 }) })
    const { code } = await allium([
      'eval',
      '--junit',
      'out/junit.xml',
      '--markdown',
      'out/pr.md',
      '--html',
      'out/page.html',
    ])
    expect(code).toBe(1)
    expect(read('out/junit.xml')).toContain('<testsuite name="b: cases" tests="60" failures="60"')
    expect(read('out/pr.md')).toContain('### Evals of `b`: fail')
    expect(read('out/page.html')).toContain('<a href="#eval-2">b</a>: fail')
  })

  it('plans without a run: which gates can pass, and how often they decide', async () => {
    const { allium, read } = project({
      'evals/support.eval.ts': evalFile({ cases: 40, gates: '{ right: [{ maxDrop: 0.05 }, { min: 0.8 }] }' }),
    })
    const { code, out } = await allium(['eval', '--plan'])
    expect(out).toContain('With 40 cases, no maxDrop below 7.2 points can pass, and no min above 0.928.')
    expect(out).toMatch(/cannot pass +right +drop < 5 points +needs at least 59 cases\ncan pass +right +mean > 0\.8\n/)
    expect(out).toMatch(/fails if the score falls by 15 points +\d[\d.]* %/)
    expect([code, read('.allium/evals/support.json')]).toEqual([0, undefined])
  })

  it('stops at Ctrl-C, and keeps the earlier results', async () => {
    const { allium, read, write } = project({ 'evals/support.eval.ts': evalFile({ gates: '{}' }) })
    await allium(['eval'])
    const before = read('.allium/evals/support.json')
    write('evals/support.eval.mts', evalFile({ gates: '{}' }))
    const { code, err } = await allium(['eval', 'evals/support.eval.mts'], {
      onError: (text, process) => text.includes('6/60') && process.emit('SIGINT'),
    })
    expect(err).toContain('The earlier results of "support" are unchanged.')
    expect([code, read('.allium/evals/support.json')]).toEqual([130, before])
  })

  it('shows one changing line of progress, and colors, on a terminal', async () => {
    const { allium } = project({ 'evals/support.eval.ts': evalFile() })
    const { err, out } = await allium(['eval'], { isTTY: true })
    expect(err).toMatch(/\r\p{Cc}\[2K█+░* support: \d+\/60 trials/u)
    expect(out).toContain('\u001b[32mpass\u001b[0m')
    expect((await allium(['eval'], { isTTY: true, env: { CI: '1', NO_COLOR: '1' } })).err).toMatch(
      /^support: 60 trials\n/,
    )
  })
})

describe('a mistake', () => {
  it.each([
    [['eval', 'nothing'], 'There is no evaluation "nothing"'],
    [['eval', 'evals/readme.md'], 'is not an eval file. Name it NAME.eval.ts'],
    [['eval', 'other/support.eval.ts', 'support'], 'have the same name'],
    [
      ['eval', 'support', '--cases', 'zebra'],
      'No case of "support" has "zebra" in its id or as a tag. Its ids: case-1, case-2',
    ],
    [['eval', '--trials', '0'], '--trials is "0"'],
    [['eval', '--tries', '3'], "Unknown option '--tries'"],
    [['eval', '--update-baseline', '--cases', 'odd'], '--update-baseline needs all cases'],
    [['eval', '--plan', '--html', 'a.html'], '--plan runs nothing'],
    [['eval', 'other/empty.eval.ts'], 'has no default export, only cases'],
    [
      ['eval', 'other/wrong.eval.ts'],
      'defineEval() does not know the option baseline. The command "allium eval" reads it',
    ],
    [['eval', 'other/broken.eval.ts'], 'cannot be imported: out of ideas'],
  ])('of %j is told before anything runs', async (argv, told) => {
    const { allium } = project({
      'evals/support.eval.ts': evalFile(),
      'evals/readme.md': '',
      'other/support.eval.ts': evalFile(),
      'other/empty.eval.ts': 'export const cases = []',
      'other/wrong.eval.ts': 'export default { baseline: 1 }',
      'other/broken.eval.ts': 'throw new Error("out of ideas")',
    })
    const { code, out, err } = await allium(argv)
    expect([code, out, err.split('\n')[0]]).toEqual([2, '', expect.stringContaining(told)])
  })

  it('in the baseline names its file', async () => {
    const { allium } = project({ 'evals/support.eval.ts': evalFile(), 'evals/support.baseline.json': '{}' })
    const { code, err } = await allium(['eval'])
    expect([code, err]).toEqual([2, expect.stringContaining('evals/support.baseline.json is no report of evaluate()')])
  })

  it('is told if there is no evaluation at all', async () => {
    const { code, err } = await project({}).allium(['eval'])
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('Create evals/NAME.eval.ts with: export default defineEval'),
    ])
  })
})
