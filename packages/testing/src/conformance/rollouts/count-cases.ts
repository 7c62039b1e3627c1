import type { RolloutTurn } from '@allium/store'
import { checkEqual, checkRejects } from '../check.ts'
import { hostileNames } from '../hostile-names.ts'
import { countsOf, look, type RolloutCases, runOf, serve, tone, turnOf } from './rollout-bench.ts'

const empty = { usersWithoutScore: 0, turns: 0, turnsWithoutScore: 0 }

/** Cases: what is counted. */
export const countCases: RolloutCases = {
  async 'has nothing of a rollout that has not begun'({ rollouts }) {
    checkEqual(await rollouts.look(tone), undefined, 'look() before the first turn')
    checkEqual(await rollouts.list(), [], 'list() before the first turn')
    checkEqual(await rollouts.score(tone, runOf('none'), 1), false, 'score() of an unknown turn')
    checkEqual(await rollouts.restart(tone), false, 'restart() of an unknown rollout')
    checkEqual(await rollouts.decide(tone, { round: 1, verdict: 'stop', by: 'operator' }), false, 'decide() of one')
  },

  async 'counts a user once, with the mean of its turns, in its arm'(bench) {
    await serve(bench, 'ann', [1, 0])
    await serve(bench.other, 'bob', [1, 1], false)
    await serve(bench, 'cid', [0, 0.6])
    const { canary, baseline } = await look(bench.other)
    checkEqual(countsOf(canary), { '3/10': 1, '5/10': 1, ...empty, turns: 4 }, 'The canary served two users')
    checkEqual(countsOf(baseline), { '10/10': 1, ...empty, turns: 2 }, 'The baseline served one')
  },

  async 'does not count a user again who comes back after its window'(bench) {
    await serve(bench, 'ann', [1, 1])
    await bench.rollouts.begin(turnOf('later'))
    checkEqual(await bench.other.rollouts.score(tone, runOf('later'), 0), false, 'score() of a later turn')
    await serve(bench.other, 'ann', [0, 0])
    checkEqual(countsOf((await look(bench)).canary), { '10/10': 1, ...empty, turns: 2 }, 'The user counted once')
  },

  async 'counts turns without an outcome, which are no data, and users who have no other'(bench) {
    await serve(bench, 'ann', [0.8, undefined])
    await serve(bench, 'bob', [undefined, undefined])
    checkEqual(
      countsOf((await look(bench.other)).canary),
      { '8/10': 1, usersWithoutScore: 1, turns: 4, turnsWithoutScore: 3 },
      'One user has a score, the other one none',
    )
  },

  async 'rounds a mean between two tenths to one of them'(bench) {
    for (let i = 0; i < 40; i++) await serve(bench, `user ${i}`, [0.2, 0.3])
    const { scores } = (await look(bench)).canary
    checkEqual((scores[2] ?? 0) + (scores[3] ?? 0), 40, 'All count as 0.2 or 0.3')
    checkEqual((scores[2] ?? 0) > 3 && (scores[3] ?? 0) > 3, true, 'Some count as 0.2, others as 0.3')
  },

  async 'takes the last score of a turn while the window is open'(bench) {
    await bench.rollouts.begin(turnOf('one'))
    await bench.rollouts.score(tone, runOf('one'), 0)
    checkEqual(await bench.other.rollouts.score(tone, runOf('one'), 1), true, 'A score replaces the one before')
    await serve(bench, 'ann', [1])
    checkEqual(countsOf((await look(bench)).canary), { '10/10': 1, ...empty, turns: 2 }, 'The last score counts')
  },

  async 'counts each user once where many turns of many users end at once'(bench) {
    const users = Array.from({ length: 20 }, (_, i) => `user ${i}`)
    const all = users.flatMap((owner) => [0, 1, 2].map((i) => ({ owner, id: `${owner} ${i}` })))
    const at = (i: number) => (i % 2 === 0 ? bench : bench.other).rollouts
    await Promise.all(all.map(({ owner, id }, i) => at(i).begin(turnOf(id, {}, { owner }))))
    await Promise.all(all.map(({ owner, id }, i) => at(i).score(tone, runOf(id, { owner }), 1)))
    await Promise.all([look(bench), look(bench.other)])
    checkEqual(countsOf((await look(bench)).canary), { '10/10': 20, ...empty, turns: 40 }, 'Each user counts once')
  },

  async 'keeps rollouts, tenants, users and turns apart, whatever their names are'(bench) {
    const names = hostileNames.filter((name) => !name.includes('\u0000'))
    for (const name of names) {
      await bench.rollouts.begin(turnOf('a', { rollout: name, turns: 1 }))
      await bench.rollouts.begin(turnOf('a', { user: `tenant ${name}`, turns: 1 }, { tenant: name }))
      await bench.rollouts.begin(turnOf('a', { user: name, turns: 1 }, { sessionId: name }))
      await bench.rollouts.begin(turnOf(name, { user: `turn ${name}`, turns: 1 }, { sessionId: 'turns' }))
    }
    for (const name of names) {
      await bench.other.rollouts.score(name, runOf('a'), 0)
      await bench.other.rollouts.score(tone, runOf('a', { tenant: name }), 0.1)
      await bench.other.rollouts.score(tone, runOf('a', { sessionId: name }), 0.2)
      await bench.other.rollouts.score(tone, runOf(name, { sessionId: 'turns' }), 0.3)
    }
    const n = names.length
    const { canary } = await look(bench)
    checkEqual(canary.scores.slice(0, 4), [0, n, n, n], 'The rollout has its own users')
    for (const name of names) checkEqual((await look(bench, name)).canary.scores[0], 1, `${name} has its own`)
  },

  async 'rejects names that are not plain text, and numbers out of their range'({ rollouts }) {
    for (const name of ['a\ud800', 'a\0', 'x'.repeat(2049), 7, null] as string[]) {
      await checkRejects(rollouts.begin(turnOf('a', { rollout: name })), 'store.key', 'begin() of such a rollout')
      await checkRejects(rollouts.begin(turnOf('a', { user: name })), 'store.key', 'begin() of such a user')
      await checkRejects(rollouts.begin(turnOf(name)), 'store.key', 'begin() of such a turn')
      await checkRejects(rollouts.score(tone, runOf('a', { owner: name }), 1), 'store.key', 'score() of such an owner')
    }
    const wrong: Partial<RolloutTurn>[] = [
      ...[{ turns: 0 }, { turns: 1.5 }, { turns: 101 }, { windowMs: 0 }, { windowMs: Number.NaN }],
      ...[{ maxDrop: 1 }, { maxDrop: -0.1 }, { alpha: 0 }, { alpha: 1 }],
    ]
    for (const more of wrong)
      await checkRejects(rollouts.begin(turnOf('a', more)), 'store.key', `begin() with ${JSON.stringify(more)}`)
    for (const score of [-0.1, 1.1, Number.NaN, '1'] as number[])
      await checkRejects(rollouts.score(tone, runOf('a'), score), 'store.key', `score() of ${score}`)
    checkEqual(await rollouts.list(), [], 'Nothing was stored')
  },
}
