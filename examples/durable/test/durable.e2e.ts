import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { programFlags } from '../../../e2e/program-flags.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-durable-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('continues after a kill in mid-answer, without a second booking and with a complete answer', async () => {
  const file = join(folder, 'journey.db')
  const killed = await run(file, 'leaves')
  expect(killed).not.toContain('status   completed')
  const out = await run(file)
  expect(out).toContain('run      running')
  expect(out).toContain('booked   the train')
  expect(out).toMatch(/status {3}completed\nanswer {3}The train leaves at nine, .* Have a good journey!/)
  expect(readFileSync(`${file}.log`, 'utf8').trim().split('\n').sort()).toEqual(['room', 'train'])
}, 240_000)

it('a new version with another layer continues the run of a killed process, and books nothing twice', async () => {
  const file = join(folder, 'deploy.db')
  await run(file, 'leaves')
  const out = await run(file, undefined, { JOURNEY_VERSION: '2' })
  expect(out).toMatch(/moved {4}to version 2, after \d+ replayed steps/)
  expect(out).toMatch(/status {3}completed\nanswer {3}The train leaves at nine/)
  expect(readFileSync(`${file}.log`, 'utf8').trim().split('\n').sort()).toEqual(['room', 'train'])
}, 240_000)

/** Runs the program to its end, or kills it after it has printed a text. */
function run(file: string, until?: string, more: Record<string, string> = {}): Promise<string> {
  const program = fileURLToPath(new URL('../src/index.ts', import.meta.url))
  const args = [...programFlags, program]
  const child = spawn(process.execPath, args, { env: { ...process.env, DURABLE_FILE: file, ...more } })
  let out = ''
  child.stdout.on('data', (data) => {
    out += data
    if (until !== undefined && out.includes(until)) child.kill('SIGKILL')
  })
  child.stderr.on('data', (data) => (out += data))
  return new Promise((resolve) => child.on('close', () => resolve(out)))
}
