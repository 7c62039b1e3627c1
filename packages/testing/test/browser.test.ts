import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { expect, it, onTestFinished } from 'vitest'

it('the package bundles for a browser: it imports nothing of Node', { timeout: 30_000 }, async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'allium-testing-'))
  onTestFinished(() => rm(outDir, { recursive: true }))
  await build({
    entry: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    outDir,
    platform: 'browser',
    format: 'esm',
    noExternal: [/./],
    esbuildOptions: (options) => {
      options.conditions = ['@allium/source']
    },
    config: false,
    silent: true,
  })
  const code = await readFile(join(outDir, 'index.js'), 'utf8')
  expect(code).not.toMatch(/^import /m)
  expect(code).toContain('replayModel')
})
