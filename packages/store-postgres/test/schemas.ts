import pg from 'pg'
import { type PostgresOptions, type PostgresStore, postgres } from '../src/index.ts'

/** Stores of a test file, each in a new schema, or opened again as another process does. */
export function storesAt(url: string) {
  const opened = new Map<object, { store: PostgresStore; options: PostgresOptions }>()
  const schemas: string[] = []
  const open = (options: PostgresOptions): PostgresStore => {
    const store = postgres(options)
    for (const part of [store, store.sessions, store.ledger, store.events, store.keyValue, store.vault])
      opened.set(part, { store, options })
    return store
  }
  const known = (part: object) => {
    const found = opened.get(part)
    if (found === undefined) throw new Error('It was not opened here.')
    return found
  }
  return {
    fresh(options: Partial<PostgresOptions> = {}) {
      const schema = newSchema()
      schemas.push(schema)
      return open({ ...(options.pool === undefined && { url }), schema, ...options })
    },
    again: (part: object, options: Partial<PostgresOptions> = {}) => open({ ...known(part).options, ...options }),
    schemaOf: (part: object) => known(part).options.schema ?? '',
    close: (part: object) => known(part).store.close(),
    /** Closes all, and takes away what they made in a database that stays. */
    async end() {
      await Promise.all([...opened.values()].map(({ store }) => store.close()))
      if (url !== process.env.DATABASE_URL) return
      for (const schema of schemas) await sql(url, `drop schema if exists "${schema}" cascade`)
    },
  }
}

export const newSchema = () => `allium_${crypto.randomUUID().replaceAll('-', '')}`

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
