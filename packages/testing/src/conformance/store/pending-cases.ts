import type { SessionKey } from '@allium/core'
import { checkEqual } from '../check.ts'
import { add, chat, nowOf, type StoreBench, type StoreCases, suspendedTurn, turnOf } from './bench.ts'
import { allPages, pageOrNothing } from './pages.ts'

const tenant = 'acme'
const named = (sessionId: string): SessionKey => ({ ...chat, sessionId })

/** Cases: pending calls over all sessions of a tenant. */
export const pendingCases: StoreCases = {
  async 'tells the calls of a tenant that wait, the oldest first'(bench) {
    const expiresAt = (await nowOf(bench)) + bench.lease * 1000
    for (const id of ['b', 'a', 'c']) {
      await bench.wait(bench.lease / 10)
      await add(bench, named(id), suspendedTurn(id, { [`call-${id}`]: { token: `t-${id}`, expiresAt } }))
    }
    await add(bench, named('idle'), turnOf('one'))
    await add(bench, { ...chat, tenant: 'globex' }, suspendedTurn('x', { other: { token: 't-x' } }))
    const { items, cursor } = await bench.other.pendingCalls({ tenant, limit: 10 })
    const call = (id: string) => {
      const callId = `call-${id}`
      return { key: named(id), turnId: `turn-${id}`, callId, name: `tool-of-${callId}`, expiresAt }
    }
    checkEqual(items, [call('b'), call('a'), call('c')], 'waiting() gives the calls of one tenant in their order')
    checkEqual(cursor, undefined, 'A page with all items has no cursor')
    const found = await bench.other.findPendingCall({ tenant, token: 't-a' })
    checkEqual(found, call('a'), 'findPendingCall() gives the same')
  },

  async 'tells each waiting call once over pages of any size'(bench) {
    for (const id of ['a', 'b', 'c'])
      await add(bench, named(id), suspendedTurn(id, { 1: { token: `${id}1` }, 2: { token: `${id}2` } }))
    const expected = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2']
    for (const limit of [1, 2, 4, 6, 7]) {
      const all = await allPages(limit, (of) => bench.other.pendingCalls({ tenant, ...of }))
      const found = all.map(({ key, callId }) => `${key.sessionId}${callId}`).toSorted()
      checkEqual(found, expected, `Pages of ${limit} return each call once`)
    }
  },

  async 'lists the waiting calls of one owner, page by page, and none of another'(bench) {
    const of = (owner: string, sessionId: string): SessionKey => ({ tenant, owner, agent: 'agent', sessionId })
    for (const [owner, id] of [
      ['ann', 'a'],
      ['bob', 'b'],
      ['Ann', 'c'],
      ['ann', 'd'],
    ] as const)
      await add(bench, of(owner, id), suspendedTurn(id, { [`call-${id}`]: { token: `t-${id}` } }))
    await add(bench, { ...of('ann', 'e'), tenant: 'globex' }, suspendedTurn('e', { 'call-e': { token: 't-e' } }))
    for (const limit of [1, 2, 3]) {
      const all = await allPages(limit, (page) => bench.other.pendingCalls({ tenant, owner: 'ann', ...page }))
      checkEqual(
        all.map(({ callId }) => callId),
        ['call-a', 'call-d'],
        `Pages of ${limit} have the calls of the owner`,
      )
    }
    const { items } = await bench.other.pendingCalls({ tenant, owner: '', limit: 10 })
    checkEqual(items, [], 'The owner "" is a separate owner, and has none')
  },

  async 'finds a waiting call by its token, in its tenant alone'(bench) {
    await add(bench, chat, suspendedTurn('one', { c1: { token: 'same' }, c2: { token: 'mine' } }))
    await add(bench, { ...chat, tenant: 'globex' }, suspendedTurn('two', { c3: { token: 'same' } }))
    const find = async (of: string, token: string) => (await bench.other.findPendingCall({ tenant: of, token }))?.callId
    checkEqual(
      [await find(tenant, 'same'), await find('globex', 'same')],
      ['c1', 'c3'],
      'A token is only valid in its tenant',
    )
    for (const [of, token] of [
      ['globex', 'mine'],
      ['', 'mine'],
      [tenant, ''],
      [tenant, 'MINE'],
      [tenant, 'mine '],
      [tenant, '%'],
      [tenant, 'c2'],
      [tenant, '__proto__'],
    ] as const)
      checkEqual(await find(of, token), undefined, `No call of ${JSON.stringify(of)} has ${JSON.stringify(token)}`)
    const { cursor = '' } = await bench.store.pendingCalls({ tenant, limit: 1 })
    const others = await pageOrNothing(bench.other.pendingCalls({ tenant: 'initech', cursor, limit: 10 }))
    checkEqual(others, [], 'The cursor of another tenant returns no data of that tenant')
  },

  async 'tells of a call no more once it is decided, or its session is deleted'(bench) {
    const both = { c1: { token: 't1' }, c2: { token: 't2' } }
    await add(bench, chat, suspendedTurn('one', both), suspendedTurn('two', { c2: both.c2 }, 2))
    checkEqual(await callIds(bench), ['c2', undefined, 'c2'], 'One of two calls was decided')
    await add(bench, chat, turnOf('three', 4))
    checkEqual(await callIds(bench), [undefined, undefined], 'Both calls were decided')
    await add(bench, chat, suspendedTurn('four', both, 6))
    checkEqual(await callIds(bench), ['c1', 'c2', 'c1', 'c2'], 'The same calls wait again')
    await bench.store.delete(chat)
    checkEqual(await callIds(bench), [undefined, undefined], 'The session was deleted')
  },

  async 'tells of a call also after its time, since it can still be refused'(bench) {
    const expiresAt = (await nowOf(bench)) + bench.lease
    await add(bench, chat, suspendedTurn('one', { c1: { token: 't1', expiresAt } }))
    await bench.wait(bench.lease * 2)
    checkEqual(await callIds(bench), ['c1', 'c1', undefined], 'An expired call stays pending')
    const found = await bench.other.findPendingCall({ tenant, token: 't1' })
    checkEqual(found?.expiresAt, expiresAt, 'and says until when it could be approved')
  },
}

/** Returns all pending calls, then the calls that both tokens find. */
async function callIds({ other }: StoreBench): Promise<(string | undefined)[]> {
  const { items } = await other.pendingCalls({ tenant, limit: 10 })
  const found = await Promise.all(['t1', 't2'].map((token) => other.findPendingCall({ tenant, token })))
  return [...items.map(({ callId }) => callId).toSorted(), ...found.map((call) => call?.callId)]
}
