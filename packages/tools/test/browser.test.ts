import { expect, it } from 'vitest'
import { browserBundle } from '../../testing/test/browser-bundle.ts'

it('the package bundles for a browser: it loads nothing of Node, before it is used', { timeout: 30_000 }, async () => {
  const { code, imported } = await browserBundle(import.meta.url)
  expect(imported).toContain('@allium/core')
  expect(imported.filter((name) => /^node:|request-filtering|modelcontext|file-type/.test(name))).toEqual([])
  expect(code).toContain('import("#filtering-agent")')
  expect(code).not.toContain('import("node:')
})
