import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { allium } from './allium.ts'

const program = fileURLToPath(new URL('./rollouts.child.ts', import.meta.url))

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-rollouts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

/** Serves users in a process of its own. */
async function serve(path: string, from: number, to: number) {
  const flags = ['--conditions=@allium/source', '--import=tsx', program, path, String(from), String(to)]
  const { stdout } = await promisify(execFile)(process.execPath, flags)
  return JSON.parse(stdout) as { events: number; rude: number; rudeAfterStop: number }
}

it('two processes on one file count together, one reports the stop, and a later process begins with it', async () => {
  const path = newFile()
  const [a, b] = await Promise.all([serve(path, 0, 40), serve(path, 100, 140)])
  expect([a.events + b.events, a.rudeAfterStop + b.rudeAfterStop]).toEqual([1, 0])
  expect(a.rude + b.rude).toBeGreaterThan(4)
  expect(await serve(path, 200, 215)).toEqual({ events: 0, rude: 0, rudeAfterStop: 0 })
  const { out } = await allium('rollouts', '--store', path, '--json')
  const { rollouts } = JSON.parse(out)
  expect(rollouts).toMatchObject([{ rollout: 'rude', round: 1, stopped: { by: 'verdict' }, verdict: 'stop' }])
  const users = [rollouts[0].canary, rollouts[0].baseline].flatMap(({ scores }) => scores)
  expect(users.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(80)
  expect(readFileSync(path).includes('user 1')).toBe(false)
}, 240_000)
