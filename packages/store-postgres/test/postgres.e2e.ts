import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Lease } from '@allium/core'
import { budget } from '@allium/guard'
import { exportSessions, importSessions, persist } from '@allium/memory'
import { documents } from '@allium/memory/documents'
import { audit, verify } from '@allium/observe'
import { memoryStore, type SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { versions } from '../src/schema/versions.ts'
import { postgresSql } from '../src/sql.ts'
import { aes } from './aes.ts'
import { newPool } from './pools.ts'
import { add, codeOf, failure, key, turn, watched } from './samples.ts'
import { newSchema, sql, storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

/** All lines of an export, in one order. */
async function contentOf(sessions: SessionStore): Promise<string[]> {
  const lines: string[] = []
  for await (const line of exportSessions(sessions, { tenant: 'acme' })) lines.push(line)
  return lines.sort()
}

describe.skipIf(server === undefined)('postgres()', () => {
  it('returns the same chunks of documents as a store in memory, in the same order', async () => {
    const inMemory = memoryStore()
    const words = ['zebra', 'alpaca', 'llama', 'vault', 'hay', 'door', 'moon']
    const textOf = (n: number) =>
      Array.from(
        { length: 400 },
        (_, i) => `${words[(n * 31 + i * i * (n + 1)) % 7]}${i % 60 === 59 ? '\n\n' : ' '}`,
      ).join('')
    const [expected, found] = await Promise.all(
      [{ sessions: inMemory, passages: inMemory.passages }, stores.fresh()].map(async (store) => {
        const handbook = documents({ store, name: 'handbook' })
        for (let n = 0; n < 12; n++)
          await handbook.put(`${n % 10}`, textOf(n), { tenant: 'acme', ...(n % 3 === 0 && { owner: 'ada' }) })
        await handbook.delete('4', { tenant: 'acme' })
        const of = { tenant: 'acme', owner: 'ada', limit: 10 }
        return Promise.all(words.map((word, i) => handbook.search(`${word} ${words[(i + 3) % 7]}`, of)))
      }),
    )
    expect(found).toEqual(expected)
    expect(found?.every((hits) => hits.length === 10)).toBe(true)
  })

  it('asks four times for a turn of one model call, and holds no connection while the model runs', async () => {
    const { pool, asked, held } = watched(newPool(url))
    const store = stores.fresh({ pool })
    const heldWhileItRan: number[] = []
    const model = scriptedModel([
      () => {
        heldWhileItRan.push(held())
        return 'Hello.'
      },
    ])
    await store.ready()
    const before = asked.length
    const agent = new Agent({ model }).use(persist({ store: store.sessions }))
    await agent.session({ id: 'chat' }).run('Hi')
    expect(asked.slice(before).map((text) => /take_session|keep_turn|version as last/.exec(text)?.[0])).toEqual([
      'version as last',
      'take_session',
      'keep_turn',
      'keep_turn',
    ])
    expect(heldWhileItRan).toEqual([0])
  })

  it('asks six times for a turn of one model call with a budget', async () => {
    const { pool, asked } = watched(newPool(url))
    const store = stores.fresh({ pool })
    await store.ready()
    const before = asked.length
    const agent = new Agent({ model: scriptedModel(['Hello.']) })
      .use(persist({ store: store.sessions }))
      .use(budget({ limit: 1, per: 'tenant', ledger: store.ledger }))
    await agent.session({ id: 'chat', principal: { tenantId: 'acme' } }).run('Hi')
    expect(asked.slice(before)).toHaveLength(6)
  })

  it('asks once more for each further step, and for its two posts', async () => {
    const { pool, asked } = watched(newPool(url))
    const store = stores.fresh({ pool })
    await store.ready()
    const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }
    const steps = [{ toolCalls: [{ name: 'look' }] }, { toolCalls: [{ name: 'look' }] }, 'Seen.']
    const counts: number[] = []
    for (const ledger of [undefined, store.ledger]) {
      const before = asked.length
      const agent = new Agent({ model: scriptedModel(steps), tools: [look] }).use(persist({ store: store.sessions }))
      if (ledger !== undefined) agent.use(budget({ limit: 1e6, unit: 'tokens', ledger }))
      await agent.session({ id: ledger === undefined ? 'plain' : 'charged' }).run('Look')
      counts.push(asked.length - before)
    }
    expect(counts).toEqual([4 + 2, 4 + 2 + 3 * 2])
  })

  it('sends the posts to one account together, and those to others beside them', async () => {
    const { pool, asked } = watched(newPool(url))
    const { ledger, ready } = stores.fresh({ pool })
    await ready()
    const before = asked.length
    const turn = async (account: string, id: string) => {
      const held = await ledger.reserve({ id, account, amount: 1, limit: 30, ttl: 10_000, run: 'r' })
      if (held !== undefined) await ledger.settle(held, 0.5)
      return held !== undefined
    }
    const hot = Array.from({ length: 40 }, (_, i) => turn('hot', `${i}`))
    const others = Array.from({ length: 5 }, (_, i) => turn(`${i}`, '1'))
    expect((await Promise.all([...hot, ...others])).filter(Boolean).length).toBe(30 + 5)
    expect(asked.length - before).toBeLessThanOrEqual(5 * 2 + 8)
    expect(await ledger.balance('hot')).toEqual({ spent: 15, reserved: 0 })
  })

  it('renews the leases of all sessions together, also where one is asked for twice', async () => {
    const { pool, asked } = watched(newPool(url))
    const { sessions, ready } = stores.fresh({ pool })
    await ready()
    const taken = Array.from({ length: 20 }, (_, i) => sessions.acquire({ ...key, sessionId: `${i}` }, 60_000))
    const leases = (await Promise.all(taken)).flatMap(({ lease }) => (lease === undefined ? [] : [lease]))
    const [first, second] = leases as [Lease, Lease]
    await sessions.release(second)
    const before = asked.length
    const held = await Promise.all([...leases, first].map((lease) => sessions.renew(lease, 60_000)))
    expect(held).toEqual(held.map((_, i) => i !== 1))
    expect(asked.length - before).toBe(2)
  })

  it('has what SQLite had after a move, and SQLite the same after the way back', async () => {
    const first = sqlite(':memory:')
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
    const steps = ['One.', 'Two.', { toolCalls: [{ name: 'pay' }] }]
    const agent = new Agent({ model: scriptedModel(steps), tools: [pay] }).use(persist({ store: first.sessions })).use({
      name: 'notes',
      state: { seen: { default: new Map<string, unknown>(), reducer: (_: unknown, next: unknown) => next } },
      async turn(ctx, next) {
        ctx.state.seen = new Map<string, unknown>([
          ['bytes', new Uint8Array([1, 2])],
          ['many', 1n],
          ['zero', -0],
        ])
        await next()
      },
    })
    const principal = { tenantId: 'acme', userId: 'ann' }
    await agent.session({ id: 'chat', principal }).run('Hi', { idempotencyKey: 'k' })
    await agent.session({ id: 'chat', principal }).run('And?')
    await agent.session({ id: 'rent', principal }).run('Pay')
    const moved = stores.fresh()
    const back = sqlite(':memory:')
    await importSessions(moved.sessions, exportSessions(first.sessions, { tenant: 'acme' }))
    await importSessions(back.sessions, exportSessions(moved.sessions, { tenant: 'acme' }))
    const all = await Promise.all([first, moved, back].map(({ sessions }) => contentOf(sessions)))
    expect(all[0]).toHaveLength(3)
    expect(all[1]).toEqual(all[0])
    expect(all[2]).toEqual(all[0])
    for (const { sessions } of [first, moved, back])
      expect((await sessions.pendingCalls({ tenant: 'acme', limit: 9 })).items).toHaveLength(1)
  })

  it('reports what a tenant has used by day, and nothing of others', async () => {
    const store = stores.fresh()
    const agent = new Agent({ model: scriptedModel(['a', 'b', 'c']) }).use(persist({ store: store.sessions }))
    for (const [tenantId, id] of [
      ['acme', 'one'],
      ['acme', 'two'],
      ['globex', 'one'],
    ] as const)
      await agent.session({ id, principal: { tenantId } }).run('hi')
    const [today, ...others] = await store.usage({ tenant: 'acme' })
    expect([today?.day, today?.runs, today?.usage.inputTokens, today?.estimated, others]).toEqual([
      new Date().toISOString().slice(0, 10),
      2,
      20,
      false,
      [],
    ])
    expect(await store.usage({ tenant: 'acme', to: Date.now() - 3_600_000 })).toEqual([])
  })

  it('gives back values until they expire or are deleted, NUL and bytes and -0 among them', async () => {
    const { keyValue } = stores.fresh()
    const value = { text: 'a\0b', bytes: new Uint8Array([0, 255]), zero: -0, none: null }
    await keyValue.set('kept', value)
    await keyValue.set('short', 1, 50)
    expect([await keyValue.get('kept'), await keyValue.get('short'), await keyValue.get('other')]).toEqual([
      value,
      1,
      undefined,
    ])
    await sleep(80)
    await keyValue.set('kept', 'new', 60_000)
    expect([await keyValue.get('kept'), await keyValue.get('short')]).toEqual(['new', undefined])
    await keyValue.delete('kept')
    expect(await keyValue.get('kept')).toBe(undefined)
    expect(await codeOf(() => keyValue.get('a\0'))).toBe('store.key')
  })

  it('takes away expired values as others are set', async () => {
    const store = stores.fresh()
    await Promise.all(Array.from({ length: 20 }, (_, i) => store.keyValue.set(`short ${i}`, i, 1)))
    await sleep(20)
    await Promise.all(Array.from({ length: 20 }, (_, i) => store.keyValue.set(`kept ${i}`, i)))
    const [row] = await sql(url, `select count(*) as left from "${stores.schemaOf(store)}".key_values`)
    expect(Number(row?.left)).toBe(20)
  })

  it('gives a record to one of many who take at once, and to each consumer; the last that is done takes it away', async () => {
    const store = stores.fresh({ consumers: ['billing', 'crm'] })
    const { lease } = await store.sessions.acquire(key, 10_000)
    const records = Array.from({ length: 30 }, (_, i) => ({ id: `r${i}`, topic: 'paid', data: i, at: 1 }))
    if (lease !== undefined) await store.sessions.append(lease, 0, { ...turn('paid'), records })
    const { outbox } = store.sessions
    const taken = await Promise.all(Array.from({ length: 5 }, () => outbox.claim('billing', 6, 10_000)))
    const ids = taken.flat().map(({ id }) => id)
    expect(ids.toSorted()).toEqual(records.map(({ id }) => id).toSorted())
    expect((await outbox.claim('crm', 100, 10_000)).map(({ data }) => data)).toEqual(records.map(({ data }) => data))
    await Promise.all([outbox.done('billing', ids), outbox.done('crm', ids)])
    expect(await sql(url, `select id from "${stores.schemaOf(store)}".outbox`)).toEqual([])
  })

  it('goes on with the records of others where the key of a tenant is gone', async () => {
    const store = stores.fresh({ encrypt: aes() })
    for (const tenant of ['gone', 'here']) {
      const { lease } = await store.sessions.acquire({ ...key, tenant }, 10_000)
      const records = [{ id: tenant, topic: 'paid', data: 1, at: 1 }]
      if (lease !== undefined) await store.sessions.append(lease, 0, { ...turn('paid'), records })
    }
    const whole = aes()
    const encrypt = {
      ...whole,
      open: (bytes: Uint8Array, place: { tenant: string; row: string }) =>
        place.tenant === 'gone' ? Promise.reject(new Error('no key')) : whole.open(bytes, place),
    }
    const { outbox } = stores.again(store, { encrypt }).sessions
    expect((await outbox.claim('billing', 10, 1)).map(({ id }) => id)).toEqual(['here'])
    await sleep(10)
    expect((await outbox.claim('billing', 10, 10_000)).map(({ id }) => id)).toEqual(['here'])
  })

  it('keeps the reservations of two processes within the limit to the last bit', async () => {
    const store = stores.fresh()
    const other = stores.again(store)
    const asked = Array.from({ length: 60 }, (_, i) =>
      (i % 2 ? store : other).ledger.reserve({ id: `${i}`, account: 'acme', amount: 0.1, limit: 2 }),
    )
    expect((await Promise.all(asked)).filter((held) => held !== undefined)).toHaveLength(20)
    expect(await store.ledger.balance('acme')).toEqual({ spent: 0, reserved: 2 })
  })

  it('forgets accounts that were closed or have ended, with the next reservations, and no other one', async () => {
    const store = stores.fresh()
    const { ledger } = store
    const post = async (account: string, endsIn?: number) => {
      const held = await ledger.reserve({
        id: '1',
        account,
        amount: 1,
        limit: 9,
        ...(endsIn !== undefined && { endsIn }),
      })
      if (held !== undefined) await ledger.settle(held, 1)
    }
    await post('closed')
    await post('ended', 1)
    await post('tenant')
    await ledger.reserve({ id: '2', account: 'open', amount: 1, limit: 9, endsIn: 1 })
    await ledger.close?.('closed')
    await sleep(20)
    await post('other')
    const s = `"${stores.schemaOf(store)}"`
    const names = `unnest(array['open', 'other', 'tenant', 'closed', 'ended']) with ordinality as n (name, at)`
    const left = await sql(
      url,
      `select n.name from ${s}.accounts a join ${names} on a.name = ${s}.digest(n.name) order by at`,
    )
    expect(left.map(({ name }) => name)).toEqual(['open', 'other', 'tenant'])
    expect(await sql(url, `select from ${s}.accounts`)).toHaveLength(3)
    expect(await ledger.balance('closed')).toEqual({ spent: 0, reserved: 0 })
  })

  it('asks six times for a turn with a budget, of its turn also', async () => {
    const { pool, asked } = watched(newPool(url))
    const store = stores.fresh({ pool })
    await store.ready()
    for (const per of ['tenant', 'turn'] as const) {
      const before = asked.length
      const agent = new Agent({ model: scriptedModel(['Hello.']) })
        .use(persist({ store: store.sessions }))
        .use(budget({ limit: 1000, unit: 'tokens', per, ledger: store.ledger }))
      await agent.session({ id: per, principal: { tenantId: 'acme' } }).run('Hi')
      expect(asked.slice(before)).toHaveLength(6)
    }
  })

  it('keeps nothing readable of what is said where it encrypts, and opens nothing at another place', async () => {
    const store = stores.fresh({ encrypt: aes() })
    await add(store, 'canary')
    await add(store, 'other', { ...key, sessionId: 'other' })
    const s = `"${stores.schemaOf(store)}"`
    const rows = await sql(url, `select messages, rest, info from ${s}.turns`)
    expect(rows.flatMap(Object.values).filter((bytes: Buffer) => bytes.includes('canary'))).toEqual([])
    await sql(url, `update ${s}.turns set messages = (select messages from ${s}.turns where session = 'other')`)
    expect(await codeOf(() => store.sessions.load(key))).toBe('store.sealed')
  })

  it.each([
    ['a NUL', 'a\0'],
    ['half a character', 'a\ud800'],
    ['10 kB', 'x'.repeat(10_240)],
  ])('refuses a key with %s', async (_, name) => {
    const { sessions, ledger } = stores.fresh()
    for (const part of ['tenant', 'owner', 'agent', 'sessionId'])
      expect(await codeOf(() => sessions.acquire({ ...key, [part]: name }, 10))).toBe('store.key')
    expect(await codeOf(() => sessions.list({ tenant: name, limit: 1 }))).toBe('store.key')
    expect(await codeOf(() => ledger.reserve({ id: '1', account: name, amount: 1, limit: 1 }))).toBe('store.key')
  })

  it('takes keys of 2,048 bytes in all, and refuses longer ones before it asks', async () => {
    const { sessions } = stores.fresh()
    const long = { tenant: random(1000), owner: random(1000), agent: 'agent', sessionId: random(43) }
    const { lease } = await sessions.acquire(long, 10_000)
    if (lease !== undefined) await sessions.append(lease, 0, { ...turn('x'), turnId: random(2048) })
    expect((await sessions.load(long))?.version).toBe(1)
    expect(await codeOf(() => sessions.acquire({ ...long, sessionId: random(44) }, 10))).toBe('store.key')
  })

  it('tells a run with a name that Postgres cannot hold, and stores nothing of it', async () => {
    const { sessions } = stores.fresh()
    const { lease } = await sessions.acquire(key, 10_000)
    if (lease === undefined) return expect.fail('Nobody has it.')
    for (const bad of [{ turnId: 'a\0' }, { idempotencyKey: 'a\ud800' }])
      expect(await codeOf(() => sessions.append(lease, 0, { ...turn('x'), ...bad }))).toBe('store.key')
    expect(await sessions.load(key)).toBe(undefined)
  })

  it('tells a row that does not parse by its key, and goes on with the others', async () => {
    const store = stores.fresh()
    await add(store, 'hello')
    await add(store, 'other', { ...key, sessionId: 'other' })
    await sql(url, `update "${stores.schemaOf(store)}".turns set messages = '\\x7b' where session = 'chat'`)
    const error = await failure(() => store.sessions.load(key))
    expect([error.code, error.message.includes('chat')]).toEqual(['store.corrupt', true])
    expect((await store.sessions.load({ ...key, sessionId: 'other' }))?.version).toBe(1)
  })

  it('creates nothing where it only checks, and takes what the printed SQL has made', async () => {
    const store = stores.fresh({ migrate: 'check' })
    const schema = stores.schemaOf(store)
    const error = await failure(() => store.ready())
    expect([error.code, error.message.includes(`postgresSql({ schema: '${schema}' })`)]).toEqual([
      'store.corrupt',
      true,
    ])
    expect(await sql(url, 'select from pg_namespace where nspname = $1', [schema])).toEqual([])
    await sql(url, postgresSql({ schema }))
    await add(store, 'hello')
    expect((await store.sessions.load(key))?.version).toBe(1)
  })

  it('needs no more than the rights on its tables and sequences that the guide names', async () => {
    const schema = stores.schemaOf(stores.fresh())
    await sql(url, postgresSql({ schema }))
    const role = newSchema()
    await sql(url, `create role ${role} login password 'app'; ${grants(schema, role)}`)
    const at = new URL(url)
    Object.assign(at, { username: role, password: 'app' })
    const store = stores.fresh({ url: at.href, schema, migrate: 'check' })
    const { lease } = await store.sessions.acquire(key, 10_000)
    const records = [{ id: role, topic: 'paid', data: 1, at: 1 }]
    if (lease !== undefined) await store.sessions.append(lease, 0, { ...turn('x'), records })
    await store.sessions.outbox.done('billing', [(await store.sessions.outbox.claim('billing', 1, 10))[0]?.id ?? ''])
    const held = await store.ledger.reserve({ id: '1', account: 'acme', amount: 1, limit: 1 })
    if (held !== undefined) await store.ledger.settle(held, 1)
    await store.keyValue.set('a', 1, 1000)
    const by = { tenant: 'acme', owner: 'ann', since: Date.now() }
    await store.vault.save('pii:["acme","ann","agent","chat"]', { '[A_1]': 'x' }, by)
    await store.events.append({ key, turnId: 't' }, 1, ['x'], { end: true, by })
    expect([await store.sessions.erase({ tenant: 'acme' }), await store.keyValue.get('a')]).toEqual([1, 1])
    await store.close()
    await sql(url, `drop owned by ${role}; drop role ${role}`)
  })

  it('has no table of which two indexes begin with the tenant: what belongs to one session is read as that alone', async () => {
    const store = stores.fresh()
    await store.ready()
    const begin = await sql(
      url,
      `select c.relname as of, count(*)::integer as n from pg_index i join pg_class c on c.oid = i.indrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
       where c.relnamespace = '"${stores.schemaOf(store)}"'::regnamespace and a.attname = 'tenant' and i.indpred is null
       group by c.relname`,
    )
    expect(begin.map(({ of }) => of)).toContain('sessions')
    expect(begin.filter(({ n }) => n !== 1)).toEqual([])
  })

  it('makes the tables once, of many that start at once', async () => {
    const store = stores.fresh()
    const all = Array.from({ length: 8 }, () => stores.again(store))
    await Promise.all(all.map((one) => one.ready()))
    expect(await sql(url, `select version from "${stores.schemaOf(store)}".schema_version`)).toEqual([
      { version: versions.length },
    ])
  })

  it('erases events and placeholders with the sessions of an owner, and those alone', async () => {
    const store = stores.fresh()
    const vaultKey = (owner: string) => `guard:pii:${JSON.stringify(['acme', owner, 'agent', 'chat'])}`
    for (const owner of ['ann', 'bob']) {
      await store.events.append({ key: { ...key, owner }, turnId: 't' }, 1, [owner], { end: true })
      await store.vault.save(vaultKey(owner), { '[NAME_1]': owner })
    }
    const left = async (owner: string) => [
      (await store.events.latest({ ...key, owner }))?.seq,
      await store.vault.load(vaultKey(owner)),
    ]
    await store.sessions.erase({ tenant: 'acme', owner: 'ann' })
    expect([await left('ann'), await left('bob')]).toEqual([
      [undefined, undefined],
      [1, { '[NAME_1]': 'bob' }],
    ])
    await store.sessions.delete({ ...key, owner: 'bob' })
    expect(await left('bob')).toEqual([undefined, undefined])
  })

  it('erases a tenant in statements of at most 500 sessions, each its own transaction', async () => {
    const { pool, asked } = watched(newPool(url))
    const store = stores.fresh({ pool })
    const ids = Array.from({ length: 1_100 }, (_, nth) => String(nth))
    await Promise.all(ids.map((sessionId) => store.sessions.acquire({ ...key, sessionId }, 10_000)))
    await add(store, 'stays', { ...key, tenant: 'globex' })
    asked.length = 0
    await store.sessions.erase({ tenant: 'acme' })
    const statements = asked.map((text) => /erase_some|begin_erasure|\bbegin\b/.exec(text)?.[0])
    // Three with sessions, and one that finds nothing more.
    expect(statements.filter(Boolean)).toEqual(['begin_erasure', ...Array(4).fill('erase_some')])
    expect(await sql(url, `select tenant from "${stores.schemaOf(store)}".sessions`)).toEqual([{ tenant: 'globex' }])
  })

  it('keeps a chain of audit records for each tenant, on which two processes write at once', async () => {
    const store = stores.fresh({ encrypt: aes() })
    const stands = [store, store, stores.again(store)]
    const turns = stands.map(async (one, i) => {
      const agent = new Agent({ model: scriptedModel(['Hello.', 'Hello.']) }).use(audit({ sink: one.audit }))
      const principal = { tenantId: i === 0 ? 'globex' : 'acme' }
      for (const _ of [1, 2]) await agent.session({ principal }).run('Hi')
    })
    await Promise.all(turns)
    const [acme, globex] = ['acme', 'globex'].map((tenant) => store.audit.chainOf(tenant))
    expect(await verify(acme ?? [])).toMatchObject({ ok: true, records: 16 })
    expect(await verify(globex ?? [])).toMatchObject({ ok: true, records: 8 })
    expect(await acme?.verifySealed()).toEqual({ ok: true, records: 16 })
  })

  it('keeps an audit record once, by its key, also where another process has written meanwhile', async () => {
    const store = stores.fresh()
    const chain = store.audit.chainOf('acme')
    const line = (seq: number) => JSON.stringify({ seq })
    expect(await chain.append(line(1), 'a')).toBeUndefined()
    expect(await stores.again(store).audit.chainOf('acme').append(line(2), 'a')).toBe('known')
    expect(await chain.append(line(2), 'b')).toBeUndefined()
    await expect(chain.append(line(2), 'a')).rejects.toMatchObject({ code: 'store.conflict' })
    expect(await store.audit.chainOf('globex').append(line(1), 'a')).toBeUndefined()
    expect(await chain.last()).toBe(line(2))
  })

  it('appends several audit records, or none of them where it has one or another process has written', async () => {
    const store = stores.fresh()
    const chain = store.audit.chainOf('acme')
    const records = (seqs: number[], keys: string) =>
      seqs.map((seq, i) => ({ line: JSON.stringify({ seq }), key: keys[i] }))
    expect(await chain.appendAll(records([1, 2], 'ab'))).toEqual([])
    expect(
      await stores
        .again(store)
        .audit.chainOf('acme')
        .appendAll(records([3, 4, 5], 'cbd')),
    ).toEqual(['b'])
    await expect(chain.appendAll(records([2, 3], 'cd'))).rejects.toMatchObject({ code: 'store.conflict' })
    const racing = ['cde', 'xyz'].map((keys) => chain.appendAll(records([3, 4, 5], keys)))
    expect((await Promise.allSettled(racing)).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await chain.verifySealed()).toEqual({ ok: true, records: 5 })
  })

  it('tells a disk that is full, and a database that may not be written; what was stored stays', async () => {
    const store = stores.fresh()
    await add(store, 'hello')
    const s = `"${stores.schemaOf(store)}"`
    await sql(
      url,
      `create function ${s}.full() returns trigger language plpgsql as
       $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
       create trigger full_disk before insert on ${s}.turns for each row execute function ${s}.full()`,
    )
    expect(await codeOf(() => add(store, 'more'))).toBe('store.full')
    const readonly = stores.again(store, { url: `${url}?options=-c%20default_transaction_read_only%3Don` })
    expect(await codeOf(() => readonly.sessions.acquire({ ...key, sessionId: 'new' }, 10))).toBe('store.readonly')
    expect((await readonly.sessions.load(key))?.version).toBe(1)
  })

  it.each([-40, 40])('keeps outbox records when the clock of the server is set by %i days', async (days) => {
    const store = stores.fresh()
    const { outbox } = store.sessions
    await outbox.claim('bills', 1, 1)
    const { lease } = await store.sessions.acquire(key, 10_000)
    const records = [{ id: 'r', topic: 'paid', data: 1, at: 1 }]
    if (lease !== undefined) await store.sessions.append(lease, 0, { ...turn('x'), records }, { release: true })
    await sql(
      url,
      `create or replace function "${stores.schemaOf(store)}".now_ms() returns double precision language sql volatile as
       $$ select extract(epoch from clock_timestamp() + interval '${days} days')::double precision * 1000 $$`,
    )
    expect(await outbox.claim('bills', 1, 1)).toMatchObject([{ id: 'r' }])
    expect(await outbox.claim('mails', 1, 1)).toMatchObject([{ id: 'r' }])
    await add(store, 'after')
    expect((await store.sessions.load(key))?.version).toBe(2)
  })

  it('is unavailable where nobody listens, and once it is closed; it closes twice, and leaves a given pool open', async () => {
    const pool = newPool(url)
    const store = stores.fresh({ pool })
    await store.ready()
    await store.close()
    await store.close()
    expect(await codeOf(() => store.sessions.load(key))).toBe('store.unavailable')
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    const nobody = postgres({ url: 'postgres://127.0.0.1:1/none' })
    const error = await failure(() => nobody.sessions.load(key))
    expect([error.code, error.message.includes('ECONNREFUSED')]).toEqual(['store.unavailable', true])
    await nobody.close()
  })
})

/** As docs/guide/stores/postgres.md has them. */
function grants(schema: string, role: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/guide/stores/postgres.md'), 'utf8')
  const [, text = ''] = /```sql\n([\s\S]*?)```/.exec(page) ?? []
  return text.replaceAll('schema allium', `schema ${schema}`).replaceAll('to app', `to ${role}`)
}

/** Text that an index cannot compress. */
function random(length: number): string {
  return Array.from({ length: length / 32 + 1 }, newSchema)
    .join('')
    .replaceAll('allium_', '')
    .slice(0, length)
}
