import { checkEqual } from '../check.ts'
import { countsOf, look, type RolloutCases, runOf, serve, tone, turnOf, usersOf } from './rollout-bench.ts'

/** Cases: when a window closes. */
export const windowCases: RolloutCases = {
  async 'keeps a window open until it has all its turns and each is scored'(bench) {
    await serve(bench, 'ann', [1])
    checkEqual(usersOf(await look(bench)), 0, 'The user has one of two turns')
    await bench.rollouts.begin(turnOf('two'))
    await bench.rollouts.begin(turnOf('three'))
    checkEqual(usersOf(await look(bench)), 0, 'The second turn has no score yet')
    checkEqual(await bench.rollouts.score(tone, runOf('three'), 0), false, 'A third turn does not count')
    await bench.other.rollouts.score(tone, runOf('two'), 1)
    checkEqual(countsOf((await look(bench)).canary)['10/10'], 1, 'The window has closed')
  },

  async 'closes a window when its time is over, without the user'(bench) {
    const { lease, wait } = bench
    await bench.rollouts.begin(turnOf('one', { windowMs: lease }))
    await bench.rollouts.score(tone, runOf('one'), 0.4)
    await bench.rollouts.begin(turnOf('two', { windowMs: lease * 1000 }))
    await bench.rollouts.begin(turnOf('other', { isCanary: false }, { owner: 'bob' }))
    checkEqual(usersOf(await look(bench)), 0, 'Both windows are open')
    await wait(lease * 2)
    const { canary, baseline } = await look(bench.other)
    const counts = { '4/10': 1, usersWithoutScore: 0, turns: 2, turnsWithoutScore: 1 }
    checkEqual([countsOf(canary), baseline.turns], [counts, 0], 'The window of its first turn is over')
    checkEqual(await bench.rollouts.score(tone, runOf('two'), 1), false, 'A later score comes too late')
    checkEqual(countsOf((await look(bench)).canary), counts, 'and a second look counts nothing again')
  },

  async 'closes at most as many windows in a look as it is told'(bench) {
    for (let i = 0; i < 7; i++)
      await bench.rollouts.begin(turnOf(`turn ${i}`, { windowMs: bench.lease }, { owner: `user ${i}` }))
    await bench.wait(bench.lease * 2)
    const seen: number[] = []
    for (let i = 0; i < 4; i++) {
      const state = await bench.other.rollouts.look(tone, { limit: 3 })
      seen.push(state?.canary.usersWithoutScore ?? -1)
    }
    checkEqual(seen, [3, 6, 7, 7], 'Users after each look with a limit of 3')
  },

  async 'counts a user in the arm of its first turn'(bench) {
    await bench.rollouts.begin(turnOf('one', { isCanary: false }))
    await bench.other.rollouts.begin(turnOf('two', { isCanary: true }))
    for (const id of ['one', 'two']) await bench.rollouts.score(tone, runOf(id), 1)
    const { canary, baseline } = await look(bench)
    checkEqual([usersOf({ canary, baseline }), countsOf(baseline)['10/10']], [1, 1], 'The first turn decides')
  },

  async 'finds a turn whose agent was renamed'(bench) {
    await bench.rollouts.begin(turnOf('one', { turns: 1 }))
    const renamed = runOf('one', { agent: 'renamed' })
    checkEqual(await bench.other.rollouts.score(tone, renamed, 1), true, 'score() under the new name')
  },

  async 'counts a turn once that begins twice, as after a restart'(bench) {
    await bench.rollouts.begin(turnOf('one'))
    await bench.other.rollouts.begin(turnOf('one', { isCanary: false }))
    await bench.rollouts.score(tone, runOf('one'), 1)
    checkEqual(usersOf(await look(bench)), 0, 'The window has one turn')
    await bench.rollouts.begin(turnOf('two'))
    await bench.rollouts.score(tone, runOf('two'), 1)
    checkEqual((await look(bench)).canary.turns, 2, 'and two when it closes')
  },
}
