import type { SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { check, checkEqual, checkRejects } from '../check.ts'
import { hostileNames, lookAlikes } from '../hostile-names.ts'
import {
  acquireLease,
  add,
  chat,
  isHeld,
  type StoreBench,
  type StoreCases,
  suspendedTurn,
  textsIn,
  turnOf,
} from './bench.ts'
import { allPages } from './pages.ts'

/** Cases: sessions are never confused. */
export const keyCases: StoreCases = {
  async 'rejects a name that is not plain text in every operation, and confuses it with no other'(bench) {
    const { store, other } = bench
    const near = { ...chat, tenant: 'a\ufffd', owner: 'a\ufffd' }
    await add(bench, near, turnOf('hello'))
    for (const name of ['a\ud800', 'a\0', 'x'.repeat(2049), 7, null, {}, true] as string[]) {
      const key = { ...near, tenant: name }
      const of = { tenant: name, limit: 1 }
      const ownerOf = { tenant: near.tenant, owner: name, limit: 1 }
      const operations: Record<string, () => Promise<unknown>> = {
        load: () => store.load(key),
        acquire: () => store.acquire({ ...near, owner: name }, 1),
        find: () => store.find({ ...near, sessionId: name }, { version: 1 }),
        delete: () => store.delete(key),
        list: () => store.list(of),
        'list of an owner': () => store.list(ownerOf),
        waiting: () => store.pendingCalls(of),
        findPendingCall: () => store.findPendingCall({ tenant: name, token: 't' }),
        erase: () => store.erase({ tenant: name }),
        'erase of an owner': () => store.erase(ownerOf),
        take: () => store.outbox.claim(name, 1, 1),
        done: () => store.outbox.done('bills', [name]),
      }
      for (const [what, ask] of Object.entries(operations)) {
        // Operations may throw or reject.
        const given = (async () => await ask())()
        const isOutbox = what === 'take' || what === 'done'
        if (isOutbox) await given.catch(() => {})
        else await checkRejects(given, 'store.key', `${what}() with the name ${String(name).slice(0, 20)}`)
      }
    }
    checkEqual((await other.load(near))?.version, 1, 'No data of another tenant was changed')
  },

  'keeps sessions apart whatever their ids are': (bench) =>
    keepApart(
      bench,
      hostileNames.map((sessionId) => ({ ...chat, sessionId })),
    ),

  'keeps tenants apart whatever their names are, also from none': (bench) =>
    keepApart(
      bench,
      ['', ...hostileNames].map((tenant) => ({ ...chat, tenant })),
    ),

  'keeps owners apart whatever their names are, also from none': (bench) =>
    keepApart(
      bench,
      ['', ...hostileNames].map((owner) => ({ ...chat, owner })),
    ),

  'keeps agents apart whatever their names are': (bench) =>
    keepApart(
      bench,
      hostileNames.map((agent) => ({ ...chat, agent })),
    ),

  'keeps sessions apart whose joined tenant, owner, agent and id are equal': (bench) =>
    keepApart(
      bench,
      distinct(
        lookAlikes.flatMap(([a, b]) => [
          { tenant: a, owner: b, agent: 'agent', sessionId: 'chat' },
          { tenant: a, owner: '', agent: 'agent', sessionId: b },
          { tenant: 'acme', owner: a, agent: 'agent', sessionId: b },
          { tenant: 'acme', owner: a, agent: `a${b}`, sessionId: 'chat' },
          { tenant: 'acme', owner: 'ann', agent: `a${a}`, sessionId: b },
        ]),
      ),
    ),

  async 'refuses a name with a NUL or half a character, or keeps it apart'(bench) {
    const names = ['a\u0000', 'a\u0000b', 'a', 'a\ud800', 'a\ud801', 'a\ufffd']
    const keys = names.flatMap((name) => [
      { ...chat, tenant: name },
      { ...chat, owner: name },
      { ...chat, agent: name },
      { ...chat, sessionId: name },
    ])
    const taken: SessionKey[] = []
    for (const key of keys) if (await canAcquire(bench, key)) taken.push(key)
    check(taken.length >= 4, 'Ordinary names are accepted')
    await checkSeparate(bench.other, taken)
  },

  async 'gives nothing of a session to who knows its id, but is another tenant'(bench) {
    await add(bench, chat, turnOf('secret'))
    for (const tenant of ['', 'ACME', 'acme ', 'acme\u0000', '%', '*', 'acm_', '__proto__'])
      checkEqual(
        await bench.other.load({ ...chat, tenant }).catch(() => undefined),
        undefined,
        `The tenant ${JSON.stringify(tenant)} finds nothing`,
      )
    await bench.other.delete({ ...chat, tenant: '%' }).catch(() => {})
    await bench.other.delete({ ...chat, tenant: '' })
    checkEqual(await textsIn(bench.other, chat), ['secret', 're: secret'], 'and can delete nothing')
  },

  async 'gives nothing of a session to who knows its id, but is another owner in the tenant'(bench) {
    await add(bench, chat, turnOf('secret'))
    for (const owner of ['', 'bob', 'ANN', 'ann ', '%', '*', 'an_', '__proto__'])
      checkEqual(
        await bench.other.load({ ...chat, owner }).catch(() => undefined),
        undefined,
        `The owner ${JSON.stringify(owner)} finds nothing`,
      )
    const bob = { ...chat, owner: 'bob' }
    const lease = await acquireLease(bench.store, chat, bench.lease)
    check(!(await isHeld(bench.other, bob, bench.lease)), 'and waits for no lease of another owner')
    await bench.store.release(lease)
    await bench.other.delete(bob)
    checkEqual(await textsIn(bench.other, chat), ['secret', 're: secret'], 'and can delete nothing')
  },

  async 'gives nothing of a session to who knows its id, but asks as another agent'(bench) {
    const { store, other, lease: ms } = bench
    await add(bench, chat, { ...suspendedTurn('secret', { c1: { token: 't1' } }), idempotencyKey: 'k1' })
    const lax: SessionKey = { ...chat, agent: 'lax' }
    const found = [
      await other.load(lax),
      await other.find(lax, { turnId: 'turn-secret' }),
      await other.find(lax, { idempotencyKey: 'k1' }),
      await other.find(lax, { version: 1 }),
      await other.findPendingCall({ tenant: chat.tenant, agents: ['lax'], token: 't1' }),
    ]
    checkEqual(
      found,
      found.map(() => undefined),
      'Another agent finds nothing by the id, a run, a key or a token',
    )
    const lease = await acquireLease(store, chat, ms * 100)
    const own = await acquireLease(other, lax, ms * 100)
    checkEqual([own.version, own.open], [0, undefined], 'It gets a separate session')
    await checkRejects(
      other.append({ ...own, key: chat }, 1, turnOf('late', 2)),
      'store.fenced',
      'append() by its lease',
    )
    await other.append(own, 0, turnOf('mine'), { release: true })
    await other.delete(lax)
    checkEqual(await store.renew(lease, ms), true, 'The lease of the first session is still valid')
    checkEqual(await textsIn(other, chat), ['secret', 're: secret'], 'and its stored data remains')
  },

  async 'lists the sessions and pending calls of the requested agents, and of no other'(bench) {
    const names = ['strict', 'lax', 'third']
    for (const agent of names)
      for (const sessionId of ['a', 'b'])
        await add(
          bench,
          { ...chat, agent, sessionId },
          suspendedTurn(agent, { c1: { token: `${agent} ${sessionId}` } }),
        )
    const { tenant } = chat
    for (const agents of [['strict'], ['lax', 'third'], ['STRICT', 'strict '], []]) {
      const keys = agents.filter((name) => names.includes(name)).flatMap((agent) => [`${agent} a`, `${agent} b`])
      const listed = await allPages(1, (of) => bench.other.list({ tenant, agents, ...of }))
      const waiting = await allPages(1, (of) => bench.other.pendingCalls({ tenant, agents, ...of }))
      const nameIn = ({ key }: { key: SessionKey }) => `${key.agent} ${key.sessionId}`
      checkEqual(listed.map(nameIn).toSorted(), keys.toSorted(), `list() of ${JSON.stringify(agents)}`)
      checkEqual(waiting.map(nameIn).toSorted(), keys.toSorted(), `waiting() of ${JSON.stringify(agents)}`)
      const found = await bench.other.findPendingCall({ tenant, agents, token: 'strict a' })
      checkEqual(
        found?.key.agent,
        agents.includes('strict') ? 'strict' : undefined,
        'findPendingCall() of these agents',
      )
    }
    checkEqual(
      (await bench.other.list({ tenant, limit: 10 })).items.length,
      6,
      'Without agents list() returns all sessions',
    )
  },
}

async function keepApart(bench: StoreBench, keys: readonly SessionKey[]): Promise<void> {
  for (const key of keys) await add(bench, key, turnOf(nameOf(key)))
  await checkSeparate(bench.other, keys)
  for (const [i, key] of keys.entries()) {
    await bench.store.delete(key)
    checkEqual(await bench.other.load(key), undefined, `delete() removes ${nameOf(key)}`)
    const next = keys[i + 1]
    if (next !== undefined)
      checkEqual(
        (await textsIn(bench.other, next))[0],
        nameOf(next),
        `delete() of ${nameOf(key)} leaves ${nameOf(next)}`,
      )
  }
}

async function checkSeparate(store: SessionStore, keys: readonly SessionKey[]): Promise<void> {
  for (const key of keys) {
    const stored = await store.load(key)
    checkEqual(stored?.version, 1, `${nameOf(key)} has its own version`)
    checkEqual(stored?.history[0]?.content, nameOf(key), `${nameOf(key)} has its own messages`)
    checkEqual(stored?.rest.state, { said: nameOf(key) }, `${nameOf(key)} has its own state`)
  }
}

/** Whether the store accepts the key; it may reject it by throwing. */
async function canAcquire(bench: StoreBench, key: SessionKey): Promise<boolean> {
  const acquired = await bench.store.acquire(key, bench.lease).catch(() => undefined)
  if (acquired === undefined) return false
  const { lease } = acquired
  check(lease !== undefined, `${nameOf(key)} can be acquired, whatever other sessions do`)
  const refused = await bench.store.append(lease, lease.version, turnOf(nameOf(key))).then(
    () => false,
    () => true,
  )
  await bench.store.release(lease)
  return !refused
}

function distinct(keys: readonly SessionKey[]): SessionKey[] {
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()]
}

function nameOf(key: SessionKey): string {
  return JSON.stringify(key)
}
