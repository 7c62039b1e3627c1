import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import results from './results.json' with { type: 'json' }
import { listen } from './server.ts'

const folder = import.meta.dirname

/** The front ends are no dependencies of the workspace, and some of them need a newer Node. */
function install(): void {
  const args = ['-y', 'pnpm@10.34.8', 'install', '--frozen-lockfile', '--ignore-scripts', '--reporter=append-only']
  const { status, stdout, stderr } = spawnSync('npx', args, { cwd: folder, encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
}

test('each front end of the docs chats, shows tools, approves, reloads and edits as its row says', {
  timeout: 240_000,
}, async () => {
  install()
  const pages = mkdtempSync(join(tmpdir(), 'allium-pages-'))
  const { url, close } = await listen(pages)
  onTestFinished(() => {
    close()
    rmSync(pages, { recursive: true })
  })
  const run = spawn('npx', ['-y', 'node@22', 'run.mjs', url, pages], { cwd: folder })
  const [found, complaints] = await Promise.all([text(run.stdout), text(run.stderr)])
  expect(JSON.parse(found || `"${complaints}"`)).toEqual(
    Object.fromEntries(results.rows.map(({ client, works }) => [client, works])),
  )
})

test('the results name only packages that are installed', () => {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(Object.entries(dependencies).map(([name, version]) => `${name} ${version}`)).toEqual(
    expect.arrayContaining(results.rows.map(({ version }) => version)),
  )
})
