import pg from 'pg'
import { type PostgresOptions, type PostgresStore, postgres } from '../src/index.ts'

/** Stores of a test file, each in a new schema, or opened again as another process does. */
export function storesAt(url: string) {
  const opened = new Map<object, { store: PostgresStore; options: PostgresOptions }>()
  const schemas: string[] = []
  const cleared = clearer(url)
  /** How many stores are open in each schema. */
  const users = new Map<string, number>()
  const count = ({ schema = '' }: PostgresOptions, change: number) =>
    users.set(schema, (users.get(schema) ?? 0) + change)
  const open = (options: PostgresOptions): PostgresStore => {
    const store = postgres(options)
    count(options, 1)
    for (const part of [store, store.sessions, store.ledger, store.events, store.keyValue, store.vault])
      opened.set(part, { store, options })
    return store
  }
  const known = (part: object) => {
    const found = opened.get(part)
    if (found === undefined) throw new Error('It was not opened here.')
    return found
  }
  const fresh = (options: Partial<PostgresOptions> = {}) => {
    const schema = newSchema()
    schemas.push(schema)
    return open({ ...(options.pool === undefined && { url }), schema, ...options })
  }
  return {
    fresh,
    /** Like `fresh()`, in a schema whose stores are all closed, if there is one: emptying it takes a tenth of the time. */
    async empty(options: Partial<PostgresOptions> = {}) {
      const schema = schemas.find((one) => users.get(one) === 0)
      if (schema === undefined) return fresh(options)
      users.delete(schema)
      await cleared.clear(schema)
      return open({ url, schema, ...options })
    },
    again: (part: object, options: Partial<PostgresOptions> = {}) => open({ ...known(part).options, ...options }),
    schemaOf: (part: object) => known(part).options.schema ?? '',
    async close(part: object) {
      const { store, options } = known(part)
      await store.close()
      count(options, -1)
    },
    /** Closes all, and takes away what they made in a database that stays. */
    async end() {
      await Promise.all([...opened.values()].map(({ store }) => store.close()))
      await cleared.end()
      if (url !== process.env.DATABASE_URL) return
      for (const schema of schemas) await sql(url, `drop schema if exists "${schema}" cascade`)
    },
  }
}

export const newSchema = () => `allium_${crypto.randomUUID().replaceAll('-', '')}`

/** Tables with a row that the schema adds. */
const seeded = ['schema_version', 'outbox_clock', 'digest_key']

/** Deletes all rows of schemas but those that they were created with, and restarts their sequences, by one connection. */
function clearer(url: string) {
  // Without triggers.
  const pool = new pg.Pool({ connectionString: url, max: 1, options: '-c session_replication_role=replica' })
  pool.on('error', () => {})
  // Tables stay.
  const deletes = new Map<string, string>()
  return {
    async clear(schema: string): Promise<void> {
      const text = deletes.get(schema) ?? (await deletesOf(pool, schema))
      deletes.set(schema, text)
      await pool.query(text)
    },
    end: () => pool.end(),
  }
}

async function deletesOf(pool: pg.Pool, schema: string): Promise<string> {
  const { rows } = await pool.query(
    `select format('delete from %I.%I', schemaname, tablename) as text from pg_tables
     where schemaname = $1 and not tablename = any ($2)
     union all select format('alter sequence %I.%I restart', schemaname, sequencename) from pg_sequences where schemaname = $1`,
    [schema, seeded],
  )
  return rows.map(({ text }) => text).join(';')
}

/** Asks past the store. */
export async function sql(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
