import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const run = join(import.meta.dirname, 'chaos/run.ts')

/** A tenth of `npm run chaos -- durable`. */
describe('chaos of durable runs', () => {
  it.for(['postgres', 'restate'])(
    'breaks no promise on %s where processes are killed at any of their steps',
    { timeout: 300_000 },
    (kind, context) => {
      const args = ['--conditions=@allium/source', '--import=tsx', run, '--kills', '10', '--store', kind]
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 280_000 })
      const said = `${stdout}\n${stderr}`
      context.skip(/: 0 processes killed .* skipped: Postgres/.test(said), 'There is no Postgres.')
      expect(stdout.trim().split('\n').at(-1), said).toMatch(/^chaos of durable runs held: 10 processes killed/)
      expect(status, said).toBe(0)
    },
  )
})
