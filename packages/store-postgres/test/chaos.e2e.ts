import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('breaks no promise where processes are killed in the middle of their turns', () => {
  const run = join(import.meta.dirname, 'chaos/run.ts')
  const args = ['--conditions=@allium/source', '--import=tsx', run, '--kills', '20', '--store', 'sqlite']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 280_000 })
  expect(stdout.trim().split('\n').at(-1), `${stdout}\n${stderr}`).toMatch(/^chaos held: 20 processes killed/)
  expect(status).toBe(0)
}, 300_000)
