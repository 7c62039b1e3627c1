import { setTimeout as sleep } from 'node:timers/promises'
import { erasureConformance } from '@allium/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { sql, storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

/** Every row of every table that the catalog has in the schema of a store. */
async function rowsIn(schema: string): Promise<string> {
  const tables = await sql(url, 'select tablename from pg_tables where schemaname = $1', [schema])
  const all = await Promise.all(tables.map(({ tablename }) => sql(url, `select * from "${schema}"."${tablename}"`)))
  return all.flat().flatMap(Object.values).map(textOf).join('\n')
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
}

describe.skipIf(server === undefined)('postgres()', () => {
  for (const seed of [1, 2, 3])
    erasureConformance({
      name: `erases, seed ${seed}`,
      seed,
      makeStore: () => stores.fresh(),
      contents: (store) => rowsIn(stores.schemaOf(store)),
      close: stores.close,
      now: Date.now,
      // Clocks of the two count whole milliseconds, and parts of one.
      sleep: (ms) => sleep(ms + 5),
      describe,
      it: (name: string, run: () => Promise<void>) => it(name, run, 120_000),
    })

  it('erases what a person has said by an index, without reading the feedback of the tenant', async () => {
    const store = stores.fresh()
    await store.ready()
    const schema = stores.schemaOf(store)
    const columns = 'tenant, owner, agent, session, turn_id, author, score, at, token'
    const values = `select 'acme', 'o' || i, 'agent', 's', 't', 'a' || i, 1, 0, 1 from generate_series(1, 20000) i`
    await sql(url, `insert into ${schema}.feedback (${columns}) ${values}`)
    await sql(url, `analyze ${schema}.feedback`)
    const [body] = await sql(
      url,
      "select prosrc from pg_proc where proname = 'erase_some' and pronamespace = $1::regnamespace",
      [schema],
    )
    const deletes = String(body?.prosrc)
      .split(';')
      .filter((statement) => statement.includes('.feedback where'))
      .map((statement) =>
        statement
          .replaceAll('_tenant', "'acme'")
          .replaceAll('_owner', "'a7'")
          .replaceAll('_token', '2')
          .replaceAll('_limit', '200'),
      )
    const plans = []
    for (const statement of deletes) plans.push(JSON.stringify(await sql(url, `explain ${statement}`)))
    expect(plans).toHaveLength(2)
    expect(plans.join()).not.toContain('Seq Scan')
    expect(plans[1]).toContain('feedback_by_author')
  })
})
