import type { SessionKey, StoredTurn } from '@allium/core'
import { check, checkEqual } from '../check.ts'
import { hostileNames } from '../hostile-names.ts'
import { acquireLease, add, chat, nowOf, runningTurn, type StoreBench, type StoreCases, turnOf } from './bench.ts'
import { allPages, pageOrNothing } from './pages.ts'

const tenant = 'acme'

/** Cases: the lists of a tenant and of an owner. */
export const listCases: StoreCases = {
  async 'lists the sessions of a tenant, those that were changed last first'(bench) {
    await bench.wait(bench.lease * 4)
    const before = await nowOf(bench)
    for (const sessionId of ['a', 'b', 'c']) await addLater(bench, { ...chat, sessionId }, turnOf(sessionId))
    await addLater(bench, { ...chat, sessionId: 'a' }, { ...turnOf('more', 2), status: 'suspended' })
    const { items, cursor } = await bench.other.list({ tenant, limit: 10 })
    const after = await nowOf(bench)
    checkEqual(
      items.map(({ updatedAt: _, ...item }) => item),
      [
        { key: { ...chat, sessionId: 'a' }, version: 2, status: 'suspended' },
        { key: { ...chat, sessionId: 'c' }, version: 1, status: 'completed' },
        { key: { ...chat, sessionId: 'b' }, version: 1, status: 'completed' },
      ],
      'list() tells of each session the number of its turns, and how the last one ended',
    )
    checkEqual(cursor, undefined, 'A page with all items has no cursor')
    for (const { updatedAt } of items)
      check(
        updatedAt >= before - bench.lease && updatedAt <= after + bench.lease,
        `A session was changed between ${before} and ${after} by the clock of the store, but list() says ${updatedAt}`,
      )
  },

  async 'lists no session of another tenant or owner'(bench) {
    const names = ['', 'ann', ...hostileNames.slice(0, 40)]
    for (const name of names) {
      await add(bench, { tenant: name, owner: 'x', agent: 'agent', sessionId: 'of tenant' }, turnOf('one'))
      await add(bench, { tenant: 'owners', owner: name, agent: 'agent', sessionId: 'of owner' }, turnOf('one'))
    }
    const keys = async (of: { tenant: string; owner?: string }) =>
      (await bench.other.list({ ...of, limit: 100 })).items.map(({ key }) => key)
    for (const name of names) {
      const own: SessionKey = { tenant: name, owner: 'x', agent: 'agent', sessionId: 'of tenant' }
      checkEqual(await keys({ tenant: name }), [own], `list() of the tenant ${JSON.stringify(name)}`)
      const ofOwner: SessionKey = { tenant: 'owners', owner: name, agent: 'agent', sessionId: 'of owner' }
      const what = `list() of the owner ${JSON.stringify(name)} alone`
      checkEqual(await keys({ tenant: 'owners', owner: name }), [ofOwner], what)
    }
    checkEqual(
      (await keys({ tenant: 'owners' })).length,
      names.length,
      'Without an owner list() returns the sessions of all owners',
    )
  },

  async 'lists each session once over pages of any size, also where all were changed at once'(bench) {
    const ids = Array.from({ length: 12 }, (_, i) => `chat ${i}`)
    for (const sessionId of ids) await add(bench, { ...chat, sessionId }, turnOf('one'))
    await add(bench, { ...chat, owner: 'bob' }, turnOf('one'))
    for (const limit of [1, 5, 6, 12, 13]) {
      const all = await allPages(limit, (of) => bench.other.list({ tenant, owner: chat.owner, ...of }))
      const found = all.map(({ key }) => key.sessionId).toSorted()
      checkEqual(found, ids.toSorted(), `Pages of ${limit} return each session once`)
    }
  },

  async 'loses and repeats no session over pages while others are added'(bench) {
    const ids = Array.from({ length: 7 }, (_, i) => `chat ${i}`)
    for (const sessionId of ids) await addLater(bench, { ...chat, sessionId }, turnOf('one'))
    let added = 0
    const all = await allPages(
      2,
      (of) => bench.other.list({ tenant, ...of }),
      () => addLater(bench, { ...chat, sessionId: `new ${added++}` }, turnOf('one')),
    )
    const found = all.map(({ key }) => key.sessionId).filter((id) => !id.startsWith('new'))
    checkEqual(found, ids.toReversed(), 'Existing sessions are listed once and in order while others are added')
  },

  async 'lists a session during its first run, but not one that is only locked'(bench) {
    const { store, other, lease: ms } = bench
    await add(bench, { ...chat, sessionId: 'taken' })
    const lease = await acquireLease(store, chat, ms * 100)
    await store.checkpoint(lease, 0, runningTurn('one'))
    const statuses = async () =>
      (await other.list({ tenant, limit: 10 })).items.map(({ key, version, status }) => [key, version, status])
    checkEqual(await statuses(), [[chat, 0, 'running']], 'A session with an active run is running')
    await store.append(lease, 0, { ...turnOf('one'), status: 'blocked' })
    checkEqual(await statuses(), [[chat, 1, 'blocked']], 'and when that has ended, has its status')
  },

  async 'treats a cursor as a position that grants no access'(bench) {
    for (const name of [tenant, 'globex'])
      for (const sessionId of ['a', 'b', 'c'])
        await addLater(bench, { ...chat, tenant: name, sessionId }, turnOf('one'))
    const { cursor = '' } = await bench.store.list({ tenant, limit: 1 })
    check(cursor !== '', 'A page that is not the last one has a cursor')
    const page = (given: string, of: { tenant: string; owner?: string }) =>
      pageOrNothing(bench.other.list({ ...of, cursor: given, limit: 10 }))
    for (const given of [cursor, '{', '[]', 'null', '%', "'", '0', `${cursor}${cursor}`]) {
      const found = [await page(given, { tenant: 'globex' }), await page(given, { tenant, owner: 'bob' })]
      const wrong = [found[0]?.filter(({ key }) => key.tenant !== 'globex'), found[1]]
      checkEqual(wrong, [[], []], `The cursor ${JSON.stringify(given)} returns no sessions of others`)
    }
  },
}

/** Adds turns at a distinct time. */
async function addLater(bench: StoreBench, key: SessionKey, turn: StoredTurn): Promise<void> {
  await bench.wait(bench.lease / 10)
  await add(bench, key, turn)
}
