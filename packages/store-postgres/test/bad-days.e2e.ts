import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { scriptedModel } from '@allium/testing'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { versions } from '../src/schema/versions.ts'
import { newPool } from './pools.ts'
import { add, codeOf, key, turn, watched } from './samples.ts'
import { sql, storesAt } from './schemas.ts'
import { ownServer } from './server.ts'

/** One that may be stopped: not that of `DATABASE_URL`. */
const server = await ownServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

describe.skipIf(server === undefined)('postgres() on a bad day', () => {
  it('ends a run whose server was stopped and started again while the model ran, and stores it', async () => {
    const store = stores.fresh()
    const model = scriptedModel([
      async () => {
        await server?.crash()
        // Longer than a few attempts take.
        void sleep(5000).then(() => server?.start())
        return 'Hello.'
      },
      'And again.',
    ])
    const agent = new Agent({ model }).use(persist({ store: store.sessions }))
    const session = agent.session({ id: 'chat' })
    expect((await session.run('Hi')).text).toBe('Hello.')
    expect((await session.run('Hi')).text).toBe('And again.')
    expect((await store.sessions.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'chat' }))?.version).toBe(2)
  })

  it('is unavailable while the server is gone, and there again with it, with what was acknowledged', async () => {
    const store = stores.fresh()
    await add(store, 'hello')
    await server?.crash()
    try {
      const asks = [
        () => store.sessions.load(key),
        () => store.sessions.acquire(key, 10),
        () => store.ledger.reserve({ id: '1', account: 'acme', amount: 1, limit: 1 }),
        () => store.keyValue.get('x'),
      ]
      expect(new Set(await Promise.all(asks.map(codeOf)))).toEqual(new Set(['store.unavailable']))
    } finally {
      await server?.start()
    }
    expect((await store.sessions.load(key))?.history).toEqual([{ role: 'user', content: 'hello' }])
  })

  it('asks again where a connection ends under a statement that may be repeated, and leaves none behind', async () => {
    const { pool, held } = watched(newPool(url, { max: 2 }))
    const store = stores.fresh({ pool })
    const { lease } = await store.sessions.acquire(key, 60_000)
    if (lease === undefined) return expect.fail('Nobody has it.')
    const locker = new pg.Client({ connectionString: url })
    await locker.connect()
    await locker.query('begin')
    await locker.query(`lock table "${stores.schemaOf(store)}".turns`)
    const appending = store.sessions.append(lease, 0, turn('hello'), { release: true })
    await ended(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%keep_turn%' and pid <> pg_backend_pid()`,
    )
    await locker.query('commit')
    await locker.end()
    await appending
    expect([(await store.sessions.load(key))?.version, held()]).toEqual([1, 0])
  })

  it('does not ask again for what it cannot know to be undone', async () => {
    const store = stores.fresh()
    await store.ready()
    const locker = new pg.Client({ connectionString: url })
    await locker.connect()
    await locker.query('begin')
    await locker.query(`lock table "${stores.schemaOf(store)}".sessions`)
    const acquiring = codeOf(() => store.sessions.acquire(key, 60_000))
    await ended(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%take_session%' and pid <> pg_backend_pid()`,
    )
    expect(await acquiring).toBe('store.unavailable')
    await locker.end()
    expect(await store.sessions.acquire(key, 10)).toHaveProperty('lease')
  })

  it('asks on another connection where the server hangs on one', async () => {
    const pool = newPool(url, { query_timeout: 300 })
    const store = stores.fresh({ pool })
    await add(store, 'hello')
    const { rows } = await pool.query('select pg_backend_pid() as pid')
    process.kill(rows[0].pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(rows[0].pid, 'SIGCONT'))
    expect((await store.sessions.load(key))?.version).toBe(1)
  })

  it('gives a session to one of two processes, which both make the tables, and what the one wrote to the other', async () => {
    const store = stores.fresh()
    const asks = `import { postgres } from '../src/index.ts'
      const store = postgres(${JSON.stringify({ url, schema: stores.schemaOf(store) })})
      const { lease } = await store.sessions.acquire(${JSON.stringify(key)}, 60000)
      if (lease) await store.sessions.append(lease, 0, ${JSON.stringify(turn('hello'))})
      console.log(lease !== undefined)
      await store.close()`
    const given = ['--conditions=@allium/source', '--import=tsx', '--input-type=module', '-e', asks]
    const child = () => promisify(execFile)(process.execPath, given, { cwd: import.meta.dirname })
    const said = (await Promise.all([child(), child()])).map(({ stdout }) => stdout.trim())
    expect(said.toSorted()).toEqual(['false', 'true'])
    expect((await store.sessions.load(key))?.version).toBe(1)
    expect(await sql(url, `select version from "${stores.schemaOf(store)}".schema_version`)).toEqual([
      { version: versions.length },
    ])
  })
})

/** Asks until something was found to end. */
async function ended(text: string): Promise<void> {
  while ((await sql(url, text)).length === 0) await sleep(10)
}
