import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorEntries, errorReference } from './error-reference.ts'
import { eventReference } from './event-reference.ts'
import { authorReference, functionReference } from './function-reference.ts'
import { optionReference } from './option-reference.ts'
import { root } from './pages.ts'

/** To write it anew: `npx vitest run docs/test/reference.test.ts -u`. */
test('docs/reference/events.md has each event with the fields of its type', { timeout: 60_000 }, async () => {
  await expect(eventReference()).toMatchFileSnapshot(join(root, 'docs/reference/events.md'))
})

test('docs/reference/options.md has each option with its type and default', { timeout: 60_000 }, async () => {
  await expect(optionReference()).toMatchFileSnapshot(join(root, 'docs/reference/options.md'))
})

test.for([
  ['functions', 'applications', functionReference],
  ['functions-for-authors', 'layers and stores', authorReference],
] as const)(
  'docs/reference/%s.md has each function and class that %s import',
  {
    timeout: 60_000,
  },
  async ([name, , reference], { expect }) => {
    const page = reference()
    expect(page.split('\n').filter((line) => /\| +\|$/.test(line))).toEqual([])
    await expect(page).toMatchFileSnapshot(join(root, `docs/reference/${name}.md`))
  },
)

test('docs/reference/errors.md has each error code with its messages, cause and fix', { timeout: 60_000 }, async () => {
  const incomplete = errorEntries().filter(({ cause, fix, messages }) => !cause || !fix || messages.length === 0)
  expect(incomplete.map(({ code }) => code)).toEqual([])
  await expect(errorReference()).toMatchFileSnapshot(join(root, 'docs/reference/errors.md'))
})
