import { readdirSync, readFileSync } from 'node:fs'
import { checkSync } from 'recheck'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { keyRules } from '../src/index.ts'

const folder = new URL('../src/', import.meta.url)

it.each(regexes())('cannot be made slow: %s', (literal) => {
  const end = literal.lastIndexOf('/')
  const { status } = checkSync(literal.slice(1, end), literal.slice(end + 1).replace('v', 'u'), { timeout: 5_000 })
  expect(status).not.toBe('vulnerable')
})

it('every rule for a key says where it begins, and holds no beginning twice', () => {
  const begins = keyRules.flatMap((rule) => rule.begins)
  expect(begins.filter((one) => one.length < 2)).toEqual([])
  expect(keyRules.every(({ rest }) => rest.sticky)).toBe(true)
})

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
