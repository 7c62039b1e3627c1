import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compatibilityPage, type ResultRow, storedResults } from './compatibility.ts'
import { root } from './pages.ts'

test('docs/guide/compatibility.md has the last results of every lab', async () => {
  await expect(compatibilityPage()).toMatchFileSnapshot(join(root, 'docs/guide/compatibility.md'))
})

test('each result of a lab that is not whole says why', () => {
  const bare = storedResults().flatMap(({ title, rows }) =>
    rows
      .filter(
        ({ works, notes, set }) => /partly|no\b/.test(Object.values(works).join(' ')) && notes.length === 0 && !set,
      )
      .map(({ name }) => `${title}: ${name}`),
  )
  expect(bare).toEqual([])
})

test('a table has a column for each thing that was tried, and says what to set', () => {
  const rows: ResultRow[] = [
    { name: 'One', version: 'one 1.0.0', works: { chat: 'yes', tools: 'none' }, set: 'Set `a|b`', notes: [] },
    { name: 'Two', version: 'two 2.0.0', works: { chat: 'partly' }, notes: ['Loses the end.'] },
  ]
  const page = compatibilityPage([{ title: 'Front ends', date: '2026-11-29', versions: { node: '22' }, rows }])
  expect(page).toContain('Last test: 2026-11-29, node 22.')
  expect(page.split('\n').filter((line) => line.startsWith('| '))).toEqual([
    '|  | version | chat | tools | what to set, and known faults |',
    '| One | one 1.0.0 | yes | – | Set `a\\|b`. |',
    '| Two | two 2.0.0 | partly | – | Loses the end. |',
  ])
})
