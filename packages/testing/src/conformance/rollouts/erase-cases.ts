import type { SessionKey } from '@allium/core'
import { checkEqual, checkRejects, checkResolves } from '../check.ts'
import { chat } from '../store/bench.ts'
import {
  look,
  type RolloutBench,
  type RolloutCases,
  runOf,
  serve,
  tone,
  turnOf,
  usersOf,
  writer,
} from './rollout-bench.ts'

const { tenant, owner } = chat
const everyone: Partial<SessionKey>[] = [{}, { owner: 'bob' }, { tenant: 'globex' }]

/** Cases: what is stored of an owner or a tenant is erased with it. */
export const eraseCases: RolloutCases = {
  async 'erases the open windows of an owner, and of a tenant, and no others'(bench) {
    await beginAll(bench)
    await bench.sessions.erase({ tenant, owner })
    checkEqual(await openOnes(bench), [false, true, true], 'erase() of an owner')
    await beginAll(bench)
    await bench.other.sessions.erase({ tenant })
    checkEqual(await openOnes(bench), [false, false, true], 'erase() of a tenant')
  },

  async 'keeps the counts of erased users, which hold nobody, and counts them as new ones'(bench) {
    await serve(bench, owner, [1, 1])
    await bench.other.sessions.erase({ tenant, owner })
    checkEqual(usersOf(await look(bench)), 1, 'The count stays')
    await bench.wait(bench.lease)
    await serve(bench, owner, [0, 0])
    checkEqual((await look(bench)).canary.scores[0], 1, 'The store does not know the user any more')
  },

  async 'rejects the turn of a run that began before its owner or tenant was erased'(bench) {
    for (const erasure of [{ tenant, owner }, { tenant }]) {
      const by = await writer(bench)
      await bench.wait(bench.lease)
      await bench.sessions.erase(erasure)
      await checkRejects(bench.other.rollouts.begin(turnOf('late'), by), 'store.fenced', 'begin() of an older run')
      const unaffected = bench.rollouts.begin(turnOf('late', {}, { tenant: 'globex' }), { ...by, tenant: 'globex' })
      await checkResolves(unaffected, 'A run of another tenant is not affected')
      await bench.wait(bench.lease)
      await checkResolves(bench.rollouts.begin(turnOf('new'), await writer(bench)), 'A run that began later is stored')
    }
  },
}

/** Begins a turn of each user. Those of tenants with the same owner are two users. */
async function beginAll({ rollouts }: RolloutBench): Promise<void> {
  for (const key of everyone) await rollouts.begin(turnOf('one', { user: JSON.stringify(key), turns: 5 }, key))
}

/** Whether the window of each user is open: a score finds it. */
async function openOnes({ other }: RolloutBench): Promise<boolean[]> {
  return Promise.all(everyone.map((key) => other.rollouts.score(tone, runOf('one', key), 1)))
}
