import type { ConnectionOptions } from 'node:tls'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import {
  type EventLog,
  type KeyValue,
  type LateParts,
  type Ledger,
  lateParts,
  type RunOperations,
  type RunStore,
  type ScheduleStore,
  type SessionStore,
} from '@allium/store'
import {
  type AuditStore,
  auditStore,
  Blobs,
  type Encryption,
  hour,
  type OutboxOptions,
  polledEventLog,
  Sealer,
  type UsageDay,
  type UsageQuery,
  type Vault,
} from '@allium/store-sql'
import { postgresBlobs } from './blob/blobs.ts'
import { Database } from './database/database.ts'
import { createPool, type PostgresPool } from './database/pool.ts'
import { checkRunKey, PostgresEvents } from './event/event-table.ts'
import { postgresLedger } from './ledger/ledger.ts'
import { PostgresOperations } from './run/operations.ts'
import { postgresRuns } from './run/runs.ts'
import { postgresSchedules } from './run/schedules.ts'
import { Schema } from './schema/schema.ts'
import { postgresSessions } from './session/sessions.ts'
import { postgresAudit } from './value/audit.ts'
import { postgresKeyValue } from './value/key-value.ts'
import { postgresVault } from './value/vault.ts'

export interface PostgresOptions extends OutboxOptions {
  /** The URL of the database: `postgres://user:password@host:5432/name`. Pass either this or `pool`. */
  url?: string | undefined
  /** Your own pg pool, which you also end. Listen to its `error` event; otherwise a lost connection crashes the process. */
  pool?: PostgresPool | undefined
  /** TLS options for `url`, in pg's format. Settings in the URL take precedence. @default as the URL says */
  ssl?: boolean | ConnectionOptions | undefined
  /** The schema of the tables. @default 'allium' */
  schema?: string | undefined
  /**
   * `auto` creates the tables or brings them to this version with the first operation. `check` changes nothing and fails if they are
   * missing or older; run the output of `postgresSql()` first.
   * @default 'auto'
   */
  migrate?: 'auto' | 'check' | undefined
  /** How long the events of a run are kept after its end, in milliseconds. @default 1 hour */
  eventRetention?: number | undefined
  /** Encrypts sessions and records. @default none: they are stored as JSON */
  encrypt?: Encryption | undefined
}

const optionKeys: KeysOf<PostgresOptions> = {
  consumers: true,
  recordRetention: true,
  url: true,
  pool: true,
  ssl: true,
  schema: true,
  migrate: true,
  eventRetention: true,
  encrypt: true,
}

export interface PostgresStore extends LateParts {
  readonly sessions: SessionStore
  /** For `durable()`. */
  readonly runs: RunStore
  /** For `schedules()`. */
  readonly schedules: ScheduleStore
  /** For `operations()` of `@allium/durable/operations`. */
  readonly operations: RunOperations
  readonly ledger: Ledger
  readonly events: EventLog
  readonly keyValue: KeyValue
  /**
   * Returns the usage of a tenant's runs by day in UTC, for sessions that are still stored.
   *
   * @throws AlliumError `store.key` for an invalid time
   */
  usage(query: UsageQuery): Promise<UsageDay[]>
  /** For `guard.pii`. */
  readonly vault: Vault
  /** The sink of `observe.audit`, with a chain for each tenant. */
  readonly audit: AuditStore
  /** Migrates or checks the schema now instead of with the first operation. */
  ready(): Promise<void>
  /** Closes its own connections; a pool that was passed in stays open. */
  close(): Promise<void>
}

/**
 * Stores sessions, events, money, values and records in a schema of a Postgres database (13 or newer), for any number of processes, also
 * through PgBouncer in transaction mode. Each operation is one statement; no connection is held while a model or tool runs.
 *
 * @throws TypeError when neither `url` nor `pool` is given, or both, or the schema name is invalid
 *
 * @example
 * const store = postgres({ url: process.env.DATABASE_URL })
 * const agent = new Agent({ model }).use(memory.persist({ store: store.sessions }))
 */
export function postgres(options: PostgresOptions): PostgresStore {
  checkOptions(options ?? null, optionKeys, 'postgres()', 'options.invalid')
  const {
    url,
    pool: givenPool,
    ssl,
    schema = 'allium',
    migrate = 'auto',
    eventRetention = hour,
    encrypt,
    ...outboxOptions
  } = options
  if ((url === undefined) === (givenPool === undefined))
    throw new TypeError('postgres() takes either "url" or "pool". Give one of them.')
  const schemaState = new Schema(schema, migrate)
  const ownedPool = url === undefined ? undefined : createPool(url, ssl)
  const db = new Database((ownedPool ?? givenPool) as PostgresPool, schemaState)
  const sealer = new Sealer(encrypt)
  const blobs = new Blobs(postgresBlobs(db), sealer)
  const late = () => import('@allium/store-postgres/late')
  let closing: Promise<void> | undefined
  return {
    sessions: postgresSessions(db, { sealer, blobs }, outboxOptions),
    runs: postgresRuns(db, { sealer, blobs }),
    schedules: postgresSchedules(db, { sealer, blobs }),
    operations: new PostgresOperations(db, blobs),
    ledger: postgresLedger(db),
    events: polledEventLog(new PostgresEvents(db, eventRetention), sealer, undefined, {
      checkKeyOfRun: checkRunKey,
      blobs,
    }),
    keyValue: postgresKeyValue(db, sealer),
    vault: postgresVault(db, sealer),
    ...lateParts(sealer.encrypts, async () =>
      (await import('@allium/store-postgres/late')).lateParts(db, sealer, blobs),
    ),
    audit: auditStore(postgresAudit(db), sealer),
    usage: async (query) => (await late()).postgresUsage(db, query),
    ready: () => db.ready(),
    close: () => {
      db.close()
      closing ??= ownedPool?.end() ?? Promise.resolve()
      return closing
    },
  }
}
