import { readdirSync, readFileSync } from 'node:fs'
import { findAll, TextWindow } from '@allium/detect'
import { checkSync } from 'recheck'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { piiDetectors } from '../src/pii/detectors.ts'

const folder = new URL('../src/', import.meta.url)

/** Patterns whose time grows with the square of a length that is bounded: by the longest finding, or that of an address. */
const windowed: ReadonlySet<string> = new Set([
  String.raw`/(?<![A-Za-z0-9])[A-Za-z](?:[A-Za-z](?:\d(?:\d[0-9A-Za-z .-]*)?)?)?$/`, // of an end: 50 characters
  String.raw`/(?<![A-Za-z0-9])(?:\+?[( ]{0,2})?(?:\d[\d ()./#-]*(?:[xe#][a-z.]*[ ]?\d*)?)?$/`, // 64 characters
  // Of a placeholder: the search by chance, which is all that recheck has for these, runs into its own limits on a busy machine.
  String.raw`/\[(?:[A-Z][A-Z0-9_]{0,50})?$/`,
  String.raw`/\[([A-Z][A-Z0-9_]{0,40})_(\d{1,9})\]/g`,
])

describe('the regular expressions of guard', () => {
  it.each(regexes().filter((literal) => !windowed.has(literal)))('cannot be made slow: %s', (literal) => {
    const end = literal.lastIndexOf('/')
    const { status } = checkSync(literal.slice(1, end), literal.slice(end + 1).replace('v', 'u'), { timeout: 5_000 })
    expect(status).not.toBe('vulnerable')
  })
})

describe('the detectors of guard.pii', () => {
  const units = [
    'a@',
    '1-',
    '1 ',
    'a.',
    'DE89 ',
    '4111 1111 1111 1112 ',
    '+1',
    '(',
    '0 1',
    'a@b.',
    '::',
    '1.',
    'eyJa.',
    'sk-a',
    '4 ',
    'aa11 ',
    '078-05-112',
    '415-555-',
    'a',
  ]

  it.each(units)('take time by the length of the text alone: %s', (unit) => {
    for (const detector of Object.values(piiDetectors).flat()) {
      const [small, large] = [50_000, 400_000].map((size) => {
        const text = unit.repeat(size / unit.length)
        return Math.min(...[1, 2, 3].map(() => timeOf(() => findAll([detector], text))))
      }) as [number, number]
      expect(large, detector.type).toBeLessThan(Math.max(50, small * 8 * 4))
      expect(
        timeOf(() => new TextWindow([detector]).add(unit.repeat(1_000))),
        detector.type,
      ).toBeLessThan(200)
    }
  })
})

/** Milliseconds of CPU, so that what else the machine does is not in it. */
function timeOf(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** Every literal in the sources. */
function regexes(): string[] {
  const found = new Set<string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const source = ts.createSourceFile(file, readFileSync(new URL(file, folder), 'utf8'), ts.ScriptTarget.Latest)
    const visit = (node: ts.Node): void => {
      if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) found.add((node as ts.RegularExpressionLiteral).text)
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return [...found]
}
