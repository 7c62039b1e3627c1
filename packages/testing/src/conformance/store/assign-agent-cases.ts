import { check, checkEqual, checkRejects } from '../check.ts'
import {
  acquireLease,
  add,
  chat,
  isHeld,
  runningTurn,
  type StoreCases,
  suspendedTurn,
  textsIn,
  turnOf,
} from './bench.ts'

const now = { ...chat, agent: 'support' }
const before = { ...chat, agent: 'helpdesk' }

/** Cases: a session is stored under another name of its agent. */
export const assignAgentCases: StoreCases = {
  async 'moves a session to its new name, with its runs, calls and leases'(bench) {
    const { store, other } = bench
    const turn = { ...suspendedTurn('one', { c1: { token: 't1' } }), idempotencyKey: 'k1' }
    await add(bench, before, turn, turnOf('two', 2))
    await add(bench, before, suspendedTurn('three', { c2: { token: 't2' } }, 4))
    checkEqual(await other.rename(now, ['desk', 'helpdesk']), true, 'rename() tells that it moved a session')
    checkEqual(await other.load(before), undefined, 'Nothing is left under the old name')
    const texts = ['one', 're: one', 'two', 're: two', 'three', 're: three']
    checkEqual(await textsIn(other, now), texts, 'The history is under the new name')
    checkEqual(await other.find(now, { idempotencyKey: 'k1' }), turn, 'Runs are found by their keys')
    checkEqual(await other.find(now, { version: 1 }), turn, 'and by their versions')
    const { tenant } = chat
    const { items } = await other.pendingCalls({ tenant, agents: ['support'], limit: 10 })
    checkEqual(
      items.map(({ key, callId }) => [key, callId]),
      [[now, 'c2']],
      'Its calls wait under the new name',
    )
    checkEqual((await other.findPendingCall({ tenant, token: 't2' }))?.key, now, 'also by their tokens')
    checkEqual(
      (await other.list({ tenant, limit: 10 })).items.map(({ key }) => key),
      [now],
      'It is listed once',
    )
    await add(bench, now, turnOf('four', 6))
    checkEqual((await store.load(now))?.version, 4, 'It continues under the new name')
  },

  async 'moves nothing where the new name has such a session, or no other name has one'(bench) {
    const { other } = bench
    await add(bench, before, turnOf('old'))
    const others = [
      { ...now, sessionId: 'other' },
      { ...now, owner: 'bob' },
      { ...now, tenant: 'globex' },
    ]
    for (const key of others)
      checkEqual(await other.rename(key, ['helpdesk']), false, `rename() to ${JSON.stringify(key)} moves nothing`)
    for (const names of [[], ['HELPDESK'], ['helpdesk '], ['support'], ['', '%']])
      checkEqual(await other.rename(now, names).catch(() => false), false, `rename() of ${JSON.stringify(names)}`)
    await add(bench, now, turnOf('new'))
    checkEqual(await other.rename(now, ['helpdesk']), false, 'An existing session is not replaced')
    checkEqual(await textsIn(other, now), ['new', 're: new'], 'The new name keeps its session')
    checkEqual(await textsIn(other, before), ['old', 're: old'], 'and the old one its own')
  },

  async 'takes the first of several names, and leaves the others'(bench) {
    await add(bench, before, turnOf('helpdesk'))
    await add(bench, { ...chat, agent: 'desk' }, turnOf('desk'))
    checkEqual(await bench.other.rename(now, ['desk', 'helpdesk']), true, 'rename() moves one')
    checkEqual(await textsIn(bench.other, now), ['desk', 're: desk'], 'that of the first name')
    checkEqual(await textsIn(bench.other, before), ['helpdesk', 're: helpdesk'], 'The other one stays')
  },

  async 'moves no session that another process holds'(bench) {
    const { store, other, lease: ms, wait } = bench
    await add(bench, before, turnOf('one'))
    const lease = await acquireLease(store, before, ms)
    await checkRejects(other.rename(now, ['helpdesk']), 'session.busy', 'rename() of a locked session')
    await store.append(lease, 1, turnOf('two', 2))
    await wait(ms * 2)
    checkEqual(await other.rename(now, ['helpdesk']), true, 'When the lease is over it is moved')
    checkEqual(await store.renew(lease, ms), false, 'and the old lease is lost')
    await checkRejects(store.append(lease, 2, turnOf('late', 4)), 'store.fenced', 'append() by the old lease')
    checkEqual((await other.load(now))?.version, 2, 'A late writer stores nothing')
  },

  async 'moves a session with the lease of the caller, which continues under the new name'(bench) {
    const { store, other, lease: ms } = bench
    await add(bench, before, turnOf('one'))
    const lease = await acquireLease(store, before, ms * 100)
    await store.checkpoint(lease, 1, runningTurn('two', 2))
    checkEqual(await store.rename(now, ['helpdesk'], { lease }), true, 'rename() with the lease of the session')
    check(await isHeld(other, now, ms), 'The session is locked under the new name')
    checkEqual((await other.load(now))?.open, runningTurn('two', 2), 'with the active run')
    await store.append({ ...lease, key: now }, 1, turnOf('two', 2), { release: true })
    checkEqual((await other.load(now))?.version, 2, 'and the same lease writes there')
  },
}
