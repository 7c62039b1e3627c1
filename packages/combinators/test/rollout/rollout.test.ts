import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { rollout, rolloutEvidence, scoredBy } from '../../src/rollout.ts'
import { arms, isPolite, rude, serve, shared } from './serve.ts'

const users = Array.from({ length: 200 }, (_, i) => `user ${i}`)

describe('A rollout', () => {
  it('runs the layer for its share of users, and counts each user once', async () => {
    const { ask, handle } = serve({ maxDrop: 0.9, alpha: 0.000_001 })
    const isRude = new Map<string, boolean>()
    for (const user of users.slice(0, 40)) isRude.set(user, (await ask(user)).isRude)
    for (const [user, wasRude] of isRude) expect((await ask(user)).isRude, user).toBe(wasRude)
    const canaries = [...isRude.values()].filter(Boolean).length
    expect(arms(await handle.look())).toEqual([canaries, 40 - canaries])
    expect(canaries).toBeGreaterThan(8)
  })

  it('stops a layer that makes answers worse, reports it once, and serves the baseline from then on', async () => {
    const { ask, handle, events } = serve()
    for (const user of users) await ask(user)
    const { stopped, canary } = (await handle.look()) ?? {}
    expect([stopped?.by, events]).toEqual(['verdict', ['stop 1']])
    expect(canary?.scores[0]).toBeLessThan(20)
    for (const user of users) expect((await ask(user)).isRude).toBe(false)
  })

  it('says that a layer is good, and serves it to everyone if it may promote it', async () => {
    const kind = { name: 'kind', turn: (_: unknown, next: () => Promise<unknown>) => next() }
    const process = shared()
    const promoting = serve({ maxDrop: 0.3, promote: true }, process, kind as never)
    for (const user of users) await promoting.ask(user)
    expect(promoting.events).toEqual(['good 1'])
    const state = await promoting.handle.look()
    const before = arms(state)
    for (const user of users) await promoting.ask(`new ${user}`)
    expect([state?.stopped, arms(await promoting.handle.look())]).toEqual([undefined, before])
  })

  it('counts the users of two processes and of two tenants together, and lets one of them stop it', async () => {
    const parts = shared()
    const [a, other] = [serve({}, parts), serve({}, parts)]
    for (const [i, user] of users.entries()) await (i % 2 ? a : other).ask(user, i % 3 ? 'acme' : 'globex')
    expect([...a.events, ...other.events]).toEqual(['stop 1'])
    for (const user of users.slice(0, 30))
      expect((await a.ask(user)).isRude || (await other.ask(user)).isRude).toBe(false)
  })

  it('takes the same user id in two tenants for two users', async () => {
    const { ask, handle } = serve()
    for (const tenant of ['acme', 'globex', 'initech']) await ask('ann', tenant)
    expect(arms(await handle.look()).reduce((a = 0, b = 0) => a + b)).toBe(3)
  })

  it('reaches a process that reads the store every ten seconds within these', async () => {
    const process = shared()
    const { ask } = serve({ refresh: 10_000, percent: 99 }, process)
    expect((await ask('ann')).isRude).toBe(true)
    const other = serve({}, process)
    await expect(other.handle.stop()).rejects.toThrow('has no store')
    await other.ask('bob')
    expect(await other.handle.stop()).toBe(true)
    expect((await ask('ann')).isRude).toBe(true)
    await process.clock.advance(10_000)
    expect((await ask('ann')).isRude).toBe(false)
  })

  it('keeps the choice of a turn that runs while it is stopped', async () => {
    const seen: string[] = []
    const { handle, ask } = serve({ percent: 99 }, shared(), {
      name: 'rude',
      async turn(_, next) {
        seen.push(`turn ${await handle.stop()}`)
        await next()
      },
      model(_, next) {
        seen.push('model')
        return next()
      },
    })
    await ask('ann')
    expect(seen).toEqual(['turn true', 'model'])
    await ask('ann')
    expect(seen.length).toBe(2)
  })

  it('scores a turn that fails with 0, and one that is aborted or has no score not at all', async () => {
    const failing = serve({ percent: 99 }, shared(), {
      name: 'rude',
      turn() {
        throw new Error('Broken.')
      },
    })
    await expect(failing.ask('ann')).rejects.toThrow('Broken.')
    await failing.handle.settled()
    expect((await failing.handle.look())?.canary.scores[0]).toBe(1)
    const unscored = serve({ percent: 99, score: () => undefined })
    await unscored.ask('ann')
    expect((await unscored.handle.look())?.canary).toMatchObject({ usersWithoutScore: 1, turnsWithoutScore: 1 })
  })

  it('takes a score that arrives later, such as feedback, and a changed one', async () => {
    const { ask, handle } = serve({ score: undefined, turns: 2, percent: 99 })
    const runOf = (turnId: string) => ({
      key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' },
      turnId,
    })
    const [one, two] = ['turn 1', 'turn 2']
    for (const turnId of [one, two]) await ask('ann', 'acme', { id: 'chat', turnId })
    const scored = []
    for (const [turnId, score] of [
      [one, 0],
      [one, 1],
      [two, 1],
      [two, 0],
      ['unknown', 1],
    ] as const)
      scored.push(await handle.score(runOf(turnId), score))
    expect(scored).toEqual([true, true, true, false, false])
    expect((await handle.look())?.canary).toMatchObject({ scores: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], turns: 2 })
  })

  it('runs turns without the layer while the store fails, and warns', async () => {
    const store = memoryStore()
    const broken = { ...store.rollouts, look: () => Promise.reject(new Error('The disk is full.')) }
    const { ask, warnings } = serve({ percent: 99, store: broken })
    expect((await ask('ann')).isRude).toBe(false)
    expect(warnings).toEqual([expect.stringContaining('The disk is full.')])
  })

  it('warns of a score that is none, and counts the turn as one without an outcome', async () => {
    const { ask, handle, warnings } = serve({ percent: 99, score: () => 7 })
    await ask('ann')
    expect(warnings).toEqual([expect.stringContaining('The score is 7. Return a number from 0 to 1')])
    expect((await handle.look())?.canary.usersWithoutScore).toBe(1)
  })

  it('scores with a scorer of evals, unless it needs decisions of layers', async () => {
    const contains = ({ text }: { text: string }) => ({ score: text.includes('Hello') ? 1 : 0 })
    const { ask, handle } = serve({ percent: 1, score: scoredBy(contains) })
    await ask('ann')
    expect((await handle.look())?.baseline.scores[10]).toBe(1)
    const decided = ({ decisions }: { decisions: readonly unknown[] }) => decisions.length
    const other = serve({ percent: 1, score: scoredBy(decided) })
    await other.ask('ann')
    expect(other.warnings).toEqual([expect.stringContaining('does not know the decisions')])
  })

  it.each([
    [{ percent: 101 }, 'percent of rollout()'],
    [{ percent: 5, turns: 0 }, 'turns of rollout()'],
    [{ percent: 5, maxDrop: 1 }, 'maxDrop of rollout()'],
    [{ percent: 5, refresh: -1 }, 'refresh of rollout()'],
    [{ percent: 5, scores: isPolite }, 'does not know the option scores'],
  ])('rejects %j', (options, message) => {
    expect(() => rollout(rude, options as never)).toThrow(message)
  })

  it('needs a name for a list of layers, which share one choice', async () => {
    expect(() => rollout([rude, rude], { percent: 5 })).toThrow('name of rollout()')
    const seen: string[] = []
    const layer = (name: string) => ({
      name,
      turn(_: unknown, next: () => Promise<void>) {
        seen.push(name)
        return next()
      },
    })
    const { ask } = serve({ name: 'both' }, shared(), [layer('a'), layer('b')] as never)
    for (const user of users.slice(0, 20)) await ask(user)
    expect([seen.length % 2, seen.length > 2, seen.length < 40]).toEqual([0, true, true])
    expect(seen.join('')).toBe('ab'.repeat(seen.length / 2))
  })
})

it('Evidence is the e-values, of which 1 / alpha decides, and the means', () => {
  const arm = (good: number, bad: number) => [bad, 0, 0, 0, 0, 0, 0, 0, 0, 0, good]
  const worse = rolloutEvidence({ canary: arm(4, 16), baseline: arm(190, 10) })
  expect([worse.canary, worse.baseline]).toEqual([0.2, 0.95])
  expect(worse.isWorse).toBeGreaterThan(20)
  expect(worse.isNotWorse).toBeLessThan(1)
  expect(rolloutEvidence({ canary: arm(0, 0), baseline: arm(0, 0) })).toEqual({ isWorse: 1, isNotWorse: 1 })
})
