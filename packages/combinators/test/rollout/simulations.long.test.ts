import { describe, expect, test } from 'vitest'
import { rolloutVerdict } from '../../src/rollout.ts'
import { seeded, stopsAfter, type World } from './users.ts'

const bad = { mean: 0.8, drop: 0.1 }
const alike = { mean: 0.8, drop: 0 }

/** After how many users of the canary each of many rollouts stops. */
function rollouts(count: number, world: World, verdict: 'stop' | 'good', maxDrop = 0) {
  const random = seeded(20_261_129)
  const ends = Array.from({ length: count }, () =>
    stopsAfter(world, (counts) => rolloutVerdict(counts, { maxDrop }) === verdict, random),
  )
  const stopped = ends.filter((end) => end !== undefined).sort((a, b) => a - b)
  return { stopped: stopped.length, within: (share: number) => stopped[Math.ceil(count * share) - 1] }
}

describe('A verdict that is looked at after each user of the canary', () => {
  test.each([
    ['of 3,000 users, a tenth in the canary', { ...alike, users: 3000, share: 0.1 }, 0],
    ['of 600 users, half in the canary', { ...alike, users: 600, share: 0.5 }, 0],
    ['of 600 users, worse by exactly maxDrop', { mean: 0.8, drop: 0.03, users: 600, share: 0.5 }, 0.03],
    ['of 600 users, nearly all content', { mean: 0.94, drop: 0, users: 600, share: 0.5 }, 0],
  ])('stops at most 67 of 1,000 canaries that are as good: %s', (_, world, maxDrop) => {
    expect(rollouts(1000, world, 'stop', maxDrop).stopped).toBeLessThanOrEqual(67)
  })

  test('calls at most 67 of 1,000 canaries good that are worse by exactly maxDrop', () => {
    const world = { mean: 0.8, drop: 0.05, users: 600, share: 0.5 }
    expect(rollouts(1000, world, 'good', 0.05).stopped).toBeLessThanOrEqual(67)
  })

  test('stops a canary that is worse by 10 points within 130 of its users in 90 % of rollouts', () => {
    const { stopped, within } = rollouts(300, { ...bad, users: 3000, share: 0.1 }, 'stop')
    expect([stopped, within(0.9)]).toEqual([300, expect.toSatisfy((users: number) => users <= 130)])
  })

  test('stops nearly every canary that is worse by 10 points with a maxDrop of 3', () => {
    expect(rollouts(300, { ...bad, users: 2000, share: 0.5 }, 'stop', 0.03).stopped).toBeGreaterThan(270)
  })
})
