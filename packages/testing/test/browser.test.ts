import { expect, it } from 'vitest'
import { browserBundle } from './browser-bundle.ts'

it('the package bundles for a browser: it imports nothing of Node', { timeout: 30_000 }, async () => {
  const { code, imported } = await browserBundle(import.meta.url, {
    skipNodeModulesBundle: false,
    noExternal: [/./],
    esbuildOptions: (options) => {
      options.conditions = ['@allium/source']
    },
  })
  expect(imported.filter((name) => !name.startsWith('./'))).toEqual([])
  expect(code).toContain('replayModel')
})
