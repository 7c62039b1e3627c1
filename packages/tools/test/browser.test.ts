import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { expect, it, onTestFinished } from 'vitest'

it('the package bundles for a browser: it loads nothing of Node, and no HTTP library, before it is used', {
  timeout: 30_000,
}, async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'allium-tools-'))
  onTestFinished(() => rm(outDir, { recursive: true }))
  await build({
    entry: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    outDir,
    platform: 'browser',
    format: 'esm',
    // What the package depends on stays outside, and is seen as an import.
    skipNodeModulesBundle: true,
    removeNodeProtocol: false,
    config: false,
    silent: true,
  })
  const files = (await readdir(outDir)).filter((name) => name.endsWith('.js'))
  const code = (await Promise.all(files.map((name) => readFile(join(outDir, name), 'utf8')))).join('\n')
  const imported = [...code.matchAll(/^(?:import|export) .*from "(.+)";$|^import "(.+)";$/gm)].map(
    (found) => found[1] ?? found[2],
  )
  expect(imported).toContain('@allium/core')
  expect(imported.filter((name) => /^node:|request-filtering|modelcontext|file-type/.test(String(name)))).toEqual([])
  expect(code).toContain('import("node:http")')
})
