import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { layers } from './soak/layers.ts'

const program = fileURLToPath(new URL('./soak/run.ts', import.meta.url))

describe('1,000 turns of the soak', { timeout: 120_000 }, () => {
  it('leaves no memory behind, layer by layer, and no session that nobody closed', async () => {
    const args = ['--expose-gc', '--conditions=@allium/source', '--import=tsx', program, '1000']
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const lines = stdout.trim().split('\n')
    expect(lines.filter((line) => !line.includes('level'))).toEqual([])
    expect(lines).toHaveLength(Object.keys(layers).length + 2)
  })
})
