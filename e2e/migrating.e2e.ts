import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const folder = resolve('e2e/migrating')

// The samples "after" are compiled and run by docs/test. These need the other frameworks.
it('each sample "before" of docs/guide/migrating.md compiles against its framework', { timeout: 240_000 }, () => {
  const install = ['-y', 'pnpm@10.34.8', 'install', '--frozen-lockfile', '--ignore-scripts', '--reporter=append-only']
  const installed = spawnSync('npx', install, { cwd: folder, encoding: 'utf8' })
  expect(installed.status, installed.stdout + installed.stderr).toBe(0)
  const page = readFileSync('docs/guide/migrating.md', 'utf8')
  const samples = [...page.matchAll(/^Before:\n\n```js\n([\s\S]*?)^```/gm)].map(([, code]) => code as string)
  expect(samples).toHaveLength(4)
  const to = join(folder, 'samples')
  mkdirSync(to, { recursive: true })
  onTestFinished(() => rmSync(to, { recursive: true }))
  for (const [n, code] of samples.entries()) writeFileSync(join(to, `before-${n}.js`), code)
  const { stdout } = spawnSync(resolve('node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  expect(stdout).toBe('')
})
