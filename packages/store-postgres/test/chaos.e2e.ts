import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const run = join(import.meta.dirname, 'chaos/run.ts')

/** A tenth of `npm run chaos`, at each of its places. */
describe('chaos', () => {
  it.for(['sqlite', 'postgres'])(
    'breaks no promise on %s where processes are killed in the middle of their turns',
    { timeout: 300_000 },
    (kind, context) => {
      const asked = ['--kills', '12', '--store', kind, '--operations', '100']
      const args = ['--conditions=@allium/source', '--import=tsx', run, ...asked]
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 280_000 })
      const said = `${stdout}\n${stderr}`
      context.skip(
        kind === 'postgres' && /: 0 processes killed .* skipped: .*Postgres/.test(said),
        'There is no Postgres.',
      )
      expect(stdout.trim().split('\n').at(-1), said).toMatch(/^chaos held: 12 processes killed/)
      expect(status, said).toBe(0)
    },
  )
})
