import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@allium/store-sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { allium } from './allium.ts'

/** A file with a rollout: 12 users of the canary, 2 of whom are content, and 60 of the baseline, who all are. */
async function fileWithRollout() {
  const folder = mkdtempSync(join(tmpdir(), 'allium-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const store = sqlite(path, { synchronous: 'normal' })
  for (let i = 0; i < 72; i++) {
    const run = { key: { tenant: 'acme', owner: `user ${i}`, agent: 'agent', sessionId: 'chat' }, turnId: 'turn' }
    const isCanary = i < 12
    const settings = { turns: 1, windowMs: 86_400_000, maxDrop: 0.05, alpha: 0.05 }
    await store.rollouts.begin({ rollout: 'tone', run, user: `user ${i}`, isCanary, ...settings })
    await store.rollouts.score('tone', run, i > 9 ? 1 : 0)
  }
  store.close()
  return path
}

it('shows the users of both arms, their mean scores, the e-values and the verdict', async () => {
  const { code, out } = await allium('rollouts', '--store', await fileWithRollout())
  expect(code).toBe(0)
  const [names, canary, baseline] = out.split('\n').map((line) => line.trim().split(/ {2,}/))
  expect(names?.slice(3, 6)).toEqual(['ARM', 'USERS', 'MEAN'])
  expect(canary).toEqual([
    'tone',
    '1',
    expect.any(String),
    'canary',
    '12',
    '0.167',
    '0',
    '12',
    '0',
    expect.any(String),
    expect.any(String),
    'stop',
  ])
  expect([Number(canary?.[9]) > 20, Number(canary?.[10]) < 1]).toEqual([true, true])
  expect(baseline).toEqual(['baseline', '60', '1.000', '0', '60', '0'])
})

it('stops a rollout once, and restarts it without counts', async () => {
  const path = await fileWithRollout()
  const stopped = await allium('rollouts', 'stop', 'tone', '--store', path)
  expect([stopped.code, stopped.out]).toEqual([0, expect.stringContaining('Stopped "tone".')])
  expect((await allium('rollouts', '--store', path)).out).toContain('stopped by an operator')
  const again = await allium('rollouts', 'stop', 'tone', '--store', path, '--json')
  expect([again.code, JSON.parse(again.out)]).toEqual([1, { rollout: 'tone', done: false }])
  expect((await allium('rollouts', 'restart', 'tone', '--store', path)).code).toBe(0)
  const { rollouts } = JSON.parse((await allium('rollouts', '--store', path, '--json')).out)
  expect(rollouts).toMatchObject([{ round: 2, verdict: 'continue', canary: { turns: 0 }, baseline: { turns: 0 } }])
})

it.each([
  [['rollouts'], 'Name the store'],
  [['rollouts', 'stop', '--store', 'x'], 'allium rollouts stop <name>'],
  [['rollouts', 'pause', 'tone', '--store', 'x'], 'allium rollouts stop <name>'],
  [['rollouts', '--since', '1'], '--since'],
])('reports a mistake in %j', async (argv, told) => {
  const { code, out, err } = await allium(...argv)
  expect([code, (out + err).includes(told)]).toEqual([2, true])
})
