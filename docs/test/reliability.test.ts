import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './pages.ts'

const page = 'docs/reliability.md'
// The test of the table with the cost of each route is packages/server/test/read-costs.test.ts.
const rows = readFileSync(join(root, page), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!fault|bound|-|route|`[A-Z]+ \/)/.test(line))

test.each(rows.map((row) => [row.split('|')[1]?.trim(), row]))(
  'docs/reliability.md names tests that are there: %s',
  (_, row) => {
    const named = [...row.matchAll(/\[`([^`]+)`\]\(([^)]+)\)/g)]
    const missing = named.filter(([, title, path]) => !has(path as string, title as string)).map(([, title]) => title)
    expect([named.length > 0, missing]).toEqual([true, []])
  },
)

function has(path: string, title: string): boolean {
  return readFileSync(join(root, dirname(page), path), 'utf8').includes(`'${title}'`)
}
