import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventReference } from './event-reference.ts'
import { root } from './pages.ts'

/** To write it anew: `npx vitest run docs/test/reference.test.ts -u`. */
test('docs/reference/events.md has each event with the fields of its type', { timeout: 60_000 }, async () => {
  await expect(eventReference()).toMatchFileSnapshot(join(root, 'docs/reference/events.md'))
})
