import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventReference } from './event-reference.ts'
import { functionReference } from './function-reference.ts'
import { optionReference } from './option-reference.ts'
import { root } from './pages.ts'

/** To write it anew: `npx vitest run docs/test/reference.test.ts -u`. */
test('docs/reference/events.md has each event with the fields of its type', { timeout: 60_000 }, async () => {
  await expect(eventReference()).toMatchFileSnapshot(join(root, 'docs/reference/events.md'))
})

test('docs/reference/options.md has each option with its type and default', { timeout: 60_000 }, async () => {
  await expect(optionReference()).toMatchFileSnapshot(join(root, 'docs/reference/options.md'))
})

test('docs/reference/functions.md has each function and class that core and store export', {
  timeout: 60_000,
}, async () => {
  const page = functionReference()
  expect(page.split('\n').filter((line) => /\| +\|$/.test(line))).toEqual([])
  await expect(page).toMatchFileSnapshot(join(root, 'docs/reference/functions.md'))
})
