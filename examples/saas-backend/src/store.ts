import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { postgres } from '@allium/store-postgres'
import { redis } from '@allium/store-redis'
import { sqlite } from '@allium/store-sqlite'
import type { encryption } from './encryption.ts'

export type Env = Readonly<Record<string, string | undefined>>

type Sqlite = ReturnType<typeof sqlite>
/** Everything that outlives a process. */
export type Store = Pick<
  Sqlite,
  'sessions' | 'passages' | 'runs' | 'operations' | 'ledger' | 'events' | 'keyValue' | 'vault' | 'audit' | 'usage'
> & {
  /** A note about the store, for the terminal. */
  readonly name: string
  readonly limits?: ReturnType<typeof redis>['limits']
  close(): Promise<void>
}

interface StoreOptions {
  /** Encrypts stored content. Durable runs need it. */
  encrypt?: ReturnType<typeof encryption> | undefined
}

/** Opens a SQLite file, or Postgres if `DATABASE_URL` is set. With `REDIS_URL`, Redis has the events, values and limits. */
export async function openStore(
  { DATABASE_URL: url, REDIS_URL, SAAS_DATA = '.cache/saas-backend', SAAS_MIGRATE }: Env,
  { encrypt }: StoreOptions = {},
): Promise<Store> {
  const migrate = SAAS_MIGRATE === 'check' ? 'check' : 'auto'
  const file = encrypt === undefined ? 'saas.db' : 'durable.db'
  const base =
    url === undefined
      ? fileStore(`${SAAS_DATA}/${file}`, { encrypt })
      : await databaseStore({ url, migrate, encrypt, consumers: [billing] })
  if (REDIS_URL === undefined) return base
  const { events, keyValue, limits, close } = redis(REDIS_URL, { encrypt })
  return {
    ...base,
    events,
    keyValue,
    limits,
    name: `${base.name}, and Redis`,
    close: async () => {
      close()
      await base.close()
    },
  }
}

/** The consumer of the outbox. */
export const billing = 'billing'

function fileStore(path: string, options: StoreOptions): Store {
  mkdirSync(dirname(path), { recursive: true })
  const store = sqlite(path, { consumers: [billing], ...options })
  return { ...store, name: `SQLite, ${path}`, close: async () => store.close() }
}

async function databaseStore(options: Parameters<typeof postgres>[0]): Promise<Store> {
  const store = postgres(options)
  await store.ready()
  return { ...store, name: 'Postgres', close: () => store.close() }
}
