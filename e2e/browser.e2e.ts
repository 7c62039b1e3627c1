import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsup'
import { expect, it, onTestFinished } from 'vitest'
import { inPage } from './chromium.ts'

it('core runs in a browser, in a page and in a worker', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'allium-core-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  await bundle(dir)
  const each = '["DONE","42",2,2,"AbortError","completed"]'
  expect(await inPage({ dir })).toEqual({ page: each, worker: each })
})

async function bundle(outDir: string): Promise<void> {
  const entry = { page: 'e2e/page.ts', worker: 'e2e/worker.ts' }
  const options = { platform: 'browser', target: 'es2022', format: 'esm', splitting: false } as const
  await build({ ...options, entry, outDir, noExternal: [/./], config: false, silent: true })
}
