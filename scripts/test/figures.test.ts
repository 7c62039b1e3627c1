import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { coreFigures } from '../figures/figures.ts'
import { lowered, loweredSizes, problemsOf, readLimits, sizeProblems } from '../figures/limits.ts'
import { loadOf, loadProblems, loweredLoads } from '../figures/loads.ts'
import { projectFigures } from '../figures/project.ts'
import { allLines, castsOf, circlesOf, codeLines, functionsOf, parsed } from '../figures/sources.ts'
import type { Figures } from '../figures/targets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('core is within its limits, and no limit is higher than it has to be', { timeout: 120_000 }, async () => {
  expect(problemsOf('core', await coreFigures(root), readLimits().core)).toEqual([])
  rmSync(`${root}/packages/core/.cache/house`, { recursive: true })
})

test('the project is within its limits', { timeout: 120_000 }, () => {
  expect(problemsOf('project', projectFigures(root), readLimits().project)).toEqual([])
})

describe('a limit', () => {
  const limits = { ...readLimits().core, files: 10, codeLines: 1000 } satisfies Figures<'core'>

  it('is broken by one file more, and the message says what to do', () => {
    expect(problemsOf('core', { ...limits, files: 11 }, limits)).toEqual([
      'core, files: 11, and the limit is 10. Bring it down: limits do not rise.',
    ])
  })

  it('has to follow a figure that fell', () => {
    const [problem, ...rest] = problemsOf('core', { ...limits, files: 9, codeLines: 995 }, limits)
    expect([problem, rest]).toEqual([expect.stringContaining('npm run house -- --lower'), []])
  })

  it('only goes down', () => {
    expect(lowered('core', { ...limits, files: 9, codeLines: 1001 }, limits)).toEqual({ ...limits, files: 9 })
  })
})

describe('the limit of a bundle', () => {
  it('is broken by one byte more than its KB, and has to follow when it is more than 1 KB too high', () => {
    const sizes = { grown: 2001, same: 1001, shrunk: 999 }
    expect(sizeProblems('bundle', sizes, { grown: 2, same: 2, shrunk: 2 })).toEqual([
      expect.stringMatching(/^bundle grown: 2001 bytes, and the limit is 2000. Make it smaller/),
      expect.stringMatching(/^bundle shrunk: .*npm run sizes -- --lower/),
    ])
  })

  it('only goes down', () => {
    expect(loweredSizes({ grown: 2001, shrunk: 999 }, { grown: 2, shrunk: 2, other: 3 })).toEqual({
      grown: 2,
      shrunk: 1,
      other: 3,
    })
  })
})

describe('the limit of an import', () => {
  const limits = { a: { files: 10, kilobytes: 100 } }
  const problemsAt = (files: number, kilobytes: number) => loadProblems({ a: { files, kilobytes } }, limits)

  it('is broken by one file or kilobyte more, and the message says what to do', () => {
    const more = [expect.stringMatching(/^import of a: .* load it on first use with import\(\)\.$/)]
    expect([problemsAt(11, 100), problemsAt(10, 101), problemsAt(10, 100)]).toEqual([more, more, []])
  })

  it('has to follow a load that fell, and only goes down', () => {
    expect(problemsAt(7, 100)).toEqual([expect.stringContaining('npm run sizes -- --lower')])
    expect(loweredLoads({ a: { files: 7, kilobytes: 101 } }, limits)).toEqual({ a: { files: 7, kilobytes: 100 } })
    expect(loweredLoads({ a: { files: 11, kilobytes: 61 } }, limits)).toEqual({ a: { files: 10, kilobytes: 80 } })
  })

  it('counts the files that an import loads at once, of both module systems, and no others', ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'loads-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const write = (file: string, text: string) => writeFileSync(join(folder, file), text.padEnd(1_000, ' '))
    write('a.mjs', `import './b.cjs'\nexport const later = () => import('./later.mjs')`)
    write('b.cjs', `require('./c.cjs')`)
    for (const file of ['c.cjs', 'later.mjs']) write(file, '')
    expect(loadOf([join(folder, 'a.mjs')])).toEqual({ files: 3, kilobytes: 3 })
  })
})

describe('the measure', () => {
  it('counts lines with code, and no comments or blank lines', () => {
    const source = parsed('a.ts', '// one\n\n/** Two. */\nexport const a = `x\ny` // three\n\nfoo()\n')
    expect([codeLines(source), allLines(source)]).toEqual([3, 7])
  })

  it('counts the lines of each function, an inner one too', () => {
    const source = parsed('a.ts', 'function a() {\n  return () => {\n    b()\n  }\n}\n')
    expect(functionsOf(source)).toEqual([
      { lines: 5, place: 'a.ts:1' },
      { lines: 3, place: 'a.ts:2' },
    ])
  })

  it('sees a circle of files that import only types', () => {
    const file = (path: string, to: string) => parsed(path, `import type { X } from './${to}'\n`)
    const sources = [file('a.ts', 'b.ts'), file('b.ts', 'c.ts'), file('c.ts', 'a.ts'), file('d.ts', 'a.ts')]
    expect(circlesOf(sources)).toEqual([['a.ts', 'b.ts', 'c.ts']])
  })

  it('sees a cast to a class of a ring, and no other cast', () => {
    const source = parsed(
      'a.ts',
      'const a = ctx as TurnAttempt\nconst b = ctx as unknown\nconst c = call as ToolCall\n',
    )
    expect(castsOf(source)).toEqual(['a.ts:1', 'a.ts:3'])
  })
})
