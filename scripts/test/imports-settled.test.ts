import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

/** Two workers, which take the files by name. A module takes as many milliseconds to load as its name says. */
const config = `
import { setTimeout as sleep } from 'node:timers/promises'
import { BaseSequencer } from 'vitest/node'
const slow = { name: 'slow', transform: (_, id) => sleep(Number(/after-(\\d+)/.exec(id)?.[1] ?? 0)).then(() => undefined) }
class ByName extends BaseSequencer {
  sort = async (files) => files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1))
}
const setupFiles = [${JSON.stringify(resolve('scripts/vitest/imports-settled.ts'))}]
export default { plugins: [slow], test: { globals: true, isolate: false, maxWorkers: 2, setupFiles, sequence: { sequencer: ByName } } }
`
const files = {
  'vitest.config.mjs': config,
  'chain-after-50.mjs': `export * from './end-after-300.mjs'`,
  'end-after-300.mjs': `export const loaded = true`,
  'other-after-150.mjs': '',
  // One worker is busy, so that the other one runs both files below.
  'a.test.mjs': `it('keeps a worker busy', () => new Promise((done) => setTimeout(done, 900)))`,
  // When the second import ends, the end of the chain is still loading.
  'b.test.mjs': `it('waits for nothing', () => void [import('./chain-after-50.mjs'), import('./other-after-150.mjs')].map((one) => one.catch(() => {})))`,
  'c.test.mjs': `it('imports', async () => expect((await import('./chain-after-50.mjs')).loaded).toBe(true))`,
}

it('an import that a test file does not wait for succeeds in the next file of the worker', () => {
  mkdirSync('.cache', { recursive: true })
  const cwd = mkdtempSync(resolve('.cache/imports-settled-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  const vitest = resolve('node_modules/vitest/vitest.mjs')
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined }
  expect(execFileSync(process.execPath, [vitest, 'run'], { cwd, env, encoding: 'utf8' })).toContain('3 passed')
})
