import { MemoryRollouts } from '@allium/store/rollouts'
import { manualClock } from '@allium/testing'
import { expect, test } from 'vitest'
import { addScore, noCounts, type RolloutCounts } from '../../src/rollout.ts'
import { seeded } from './users.ts'

const [hour, day] = [3_600_000, 86_400_000]
const size = 5

interface Turn {
  readonly user: number
  readonly at: number
  readonly isCanary: boolean
  /** Undefined if the turn has no outcome. */
  readonly score: number | undefined
  /** Milliseconds after the turn, as for feedback. */
  readonly delay: number
}

/** The turns of users over some days. A few users make most of them, some leave after one, and a tenth has no outcomes. */
function turnsOf(users: number, drop: number, random: () => number): Turn[] {
  return Array.from({ length: users }, (_, user) => {
    const [isCanary, hasOutcomes, rate] = [random() < 0.5, random() < 0.9, 0.6 + 0.4 * random()]
    const count = Math.min(200, Math.floor((1 - random()) ** (-1 / 1.1)))
    let at = random() * 3 * day
    return Array.from({ length: count }, (): Turn => {
      at += random() * 12 * hour
      const isGood = random() < rate - (isCanary ? drop : 0)
      // A canary that was raised in between: the arm of the first turn counts.
      const inArm = isCanary || (count > 20 && random() < 0.1)
      const delay = random() < 0.3 ? Math.floor(random() * 20 * hour) : 0
      return { user, at: Math.floor(at), isCanary: inArm, score: hasOutcomes ? Number(isGood) : undefined, delay }
    }).map((turn, i) => (i === 0 ? { ...turn, isCanary } : turn))
  })
    .flat()
    .sort((a, b) => a.at - b.at)
}

/** Serves the turns through the store, and looks at every turn. */
async function serve(turns: readonly Turn[], random: () => number) {
  const clock = manualClock()
  const [store, start] = [new MemoryRollouts(clock, random), clock.now()]
  const late: { at: number; score(): Promise<boolean> }[] = []
  for (const [i, { user, at, isCanary, score, delay }] of turns.entries()) {
    for (const one of late.filter((one) => one.at <= at)) {
      await clock.advance(Math.max(0, start + one.at - clock.now()))
      await one.score()
      late.splice(late.indexOf(one), 1)
    }
    await clock.advance(Math.max(0, start + at - clock.now()))
    const run = {
      key: { tenant: 'acme', owner: `user ${user}`, agent: 'agent', sessionId: 'chat' },
      turnId: `turn ${i}`,
    }
    const settings = { turns: size, windowMs: day, maxDrop: 0, alpha: 0.05 }
    await store.begin({ rollout: 'tone', run, user: `user ${user}`, isCanary, ...settings })
    late.push({ at: at + delay, score: () => store.score('tone', run, score) })
    late.sort((a, b) => a.at - b.at)
    await store.look('tone')
  }
  for (const one of late) {
    await clock.advance(Math.max(0, start + one.at - clock.now()))
    await one.score()
  }
  await clock.advance(2 * day)
  return store.look('tone', { limit: 10_000 })
}

/** What the rules say: the first five turns of a user or those of its first day, and the scores that were known when the window closed. */
function expectedCounts(turns: readonly Turn[]): RolloutCounts & { without: number } {
  const counts = { canary: noCounts(), baseline: noCounts(), without: 0 }
  const users = new Set(turns.map(({ user }) => user))
  for (const name of users) {
    const own = turns.filter(({ user }) => user === name)
    const [first] = own as [Turn]
    const inTime = own.filter(({ at }) => at < first.at + day).slice(0, size)
    // Whoever serves the next turn closes the window, and scores that arrived by then count.
    const closedAt = turns.find(({ at }) => at >= first.at + day)?.at ?? Number.POSITIVE_INFINITY
    const scores = inTime.flatMap(({ at, delay, score }) =>
      score !== undefined && at + delay <= closedAt ? [score] : [],
    )
    if (scores.length === 0) counts.without++
    else
      addScore(
        counts[first.isCanary ? 'canary' : 'baseline'],
        scores.reduce((a, b) => a + b) / scores.length,
        () => 1 - Number.EPSILON,
      )
  }
  return counts
}

test('The store counts the users that the rules name, in ten rollouts with turns that are scored late or never', async () => {
  const random = seeded(20_261_130)
  for (let rollout = 0; rollout < 10; rollout++) {
    const turns = turnsOf(120, 0.1, random)
    const state = await serve(turns, () => 0)
    const { canary, baseline, without } = expectedCounts(turns)
    expect([state?.canary.scores, state?.baseline.scores]).toEqual([canary, baseline])
    expect((state?.canary.usersWithoutScore ?? 0) + (state?.baseline.usersWithoutScore ?? 0)).toBe(without)
  }
})
