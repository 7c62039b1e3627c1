import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { quick } from './plants.ts'

const program = fileURLToPath(new URL('plant.ts', import.meta.url))

it('the explorer finds ten planted bugs within 1,000 cases', { timeout: 300_000 }, async () => {
  const args = ['--conditions=@allium/source', '--import=tsx', program, '--quick', '--no-tests', '--cases', '1000']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(quick).toHaveLength(10)
  expect(stdout).toContain('Of 10 planted: explorer 10, tests 0, nobody 0, invalid 0')
})
