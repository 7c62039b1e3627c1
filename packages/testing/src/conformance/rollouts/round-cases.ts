import { checkEqual } from '../check.ts'
import { look, type RolloutCases, runOf, serve, tone, turnOf, usersOf } from './rollout-bench.ts'

/** Cases: the end of a round, and a new one. */
export const roundCases: RolloutCases = {
  async 'lets one of many callers stop a round'(bench) {
    await bench.rollouts.begin(turnOf('one'))
    const by = ['verdict', 'operator', 'verdict', 'operator'] as const
    const told = await Promise.all(
      by.map((one, i) =>
        (i % 2 === 0 ? bench : bench.other).rollouts.decide(tone, { round: 1, verdict: 'stop', by: one }),
      ),
    )
    checkEqual(told.filter(Boolean).length, 1, 'decide() returns true to one caller')
    const { stopped } = await look(bench.other)
    checkEqual(stopped?.by, by[told.indexOf(true)], 'The rollout names who stopped it')
  },

  async 'counts nothing in a round that is stopped'(bench) {
    await serve(bench, 'ann', [1, 1])
    await bench.rollouts.begin(turnOf('bob 0', {}, { owner: 'bob' }))
    await bench.rollouts.decide(tone, { round: 1, verdict: 'stop', by: 'verdict' })
    checkEqual(await bench.other.rollouts.score(tone, runOf('bob 0', { owner: 'bob' }), 0), false, 'An open turn')
    await serve(bench.other, 'cid', [0, 0])
    checkEqual(usersOf(await look(bench)), 1, 'The counts stay as they were')
  },

  async 'records once that a canary is good, and may stop it later'(bench) {
    await bench.rollouts.begin(turnOf('one'))
    const good = { round: 1, verdict: 'good', by: 'verdict' } as const
    checkEqual(
      [await bench.rollouts.decide(tone, good), await bench.other.rollouts.decide(tone, good)],
      [true, false],
      'decide() returns true once',
    )
    const state = await look(bench.other)
    checkEqual([typeof state.goodAt, state.stopped], ['number', undefined], 'It is good, and still runs')
    checkEqual(await bench.rollouts.decide(tone, { ...good, verdict: 'stop' }), true, 'It can be stopped')
    checkEqual(await bench.rollouts.decide(tone, good), false, 'but not become good after that')
  },

  async 'begins a round without counts, users and settings at a restart'(bench) {
    await serve(bench, 'ann', [1, 1])
    await bench.rollouts.begin(turnOf('bob 0', {}, { owner: 'bob' }))
    await bench.rollouts.decide(tone, { round: 1, verdict: 'stop', by: 'operator' })
    checkEqual(await bench.other.rollouts.restart(tone), true, 'restart() of a rollout')
    const { round, stopped, maxDrop } = await look(bench)
    checkEqual([round, stopped, maxDrop, usersOf(await look(bench))], [2, undefined, undefined, 0], 'A new round')
    await bench.rollouts.begin(turnOf('ann 0', { maxDrop: 0.1 }))
    checkEqual(await bench.rollouts.score(tone, runOf('bob 0', { owner: 'bob' }), 1), false, 'A turn of the old round')
    await serve(bench.other, 'ann', [0, 0])
    const state = await look(bench.other)
    checkEqual([state.canary.scores[0], state.maxDrop], [1, 0.1], 'The same user counts again, with new settings')
  },

  async 'does not end a round that the caller has not looked at'(bench) {
    await bench.rollouts.begin(turnOf('one'))
    await bench.other.rollouts.restart(tone)
    const late = bench.rollouts.decide(tone, { round: 1, verdict: 'stop', by: 'verdict' })
    checkEqual([await late, (await look(bench)).stopped], [false, undefined], 'decide() of the round before')
  },

  async 'keeps the settings of the first turn of a round'(bench) {
    await bench.rollouts.begin(turnOf('one', { maxDrop: 0.02, alpha: 0.01 }))
    await bench.other.rollouts.begin(turnOf('two', { maxDrop: 0.3, alpha: 0.2 }))
    const { maxDrop, alpha } = await look(bench.other)
    checkEqual([maxDrop, alpha], [0.02, 0.01], 'The settings')
  },

  async 'lists all rollouts by name, with their counts'(bench) {
    for (const rollout of ['b', 'a', 'B']) await bench.rollouts.begin(turnOf('one', { rollout, turns: 1 }))
    await bench.rollouts.score('a', runOf('one'), 1)
    const all = await bench.other.rollouts.list()
    checkEqual(
      all.map((state) => [state.rollout, state.round, usersOf(state)]),
      [
        ['B', 1, 0],
        ['a', 1, 1],
        ['b', 1, 0],
      ],
      'list() of three rollouts',
    )
  },
}
