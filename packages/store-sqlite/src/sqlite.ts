import { AlliumError, type Clock } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
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
import { SqliteBlobs } from './blob/blobs.ts'
import { Database } from './database/database.ts'
import { machineClock, testClock } from './database/machine-clock.ts'
import { SqliteEvents } from './event/event-table.ts'
import { ErasureLog } from './lease/erasure-log.ts'
import { Leases } from './lease/leases.ts'
import { Writers } from './lease/writers.ts'
import { sqliteLedger } from './ledger/ledger.ts'
import { SqliteOperations } from './run/operations.ts'
import { sqliteRuns } from './run/runs.ts'
import { sqliteSchedules } from './run/schedules.ts'
import { sqliteSessions } from './session/sessions.ts'
import type { StoreParts } from './store-parts.ts'
import { sqliteAudit } from './value/audit.ts'
import { sqliteKeyValue } from './value/key-value.ts'
import { sqliteVault } from './value/vault.ts'

export interface SqliteOptions extends OutboxOptions {
  /** Encrypts sessions and records. @default none: they are stored as JSON */
  encrypt?: Encryption | undefined
  /**
   * When a write is acknowledged: with `full` after it is on disk, except leases, events, slots of rates and settlements, which follow
   * within a second; with `normal` the last writes may be lost in a power failure, but not in a process crash. @default 'full'
   */
  synchronous?: 'full' | 'normal' | undefined
  /** The maximum size of the file in bytes; a write that needs more fails with `store.full`. @default limited only by the disk */
  maxBytes?: number | undefined
  /** How long the events of a run are kept after its end, in milliseconds. @default 1 hour */
  eventRetention?: number | undefined
  /** @default the machine's clock, which all its processes share */
  clock?: Clock | undefined
}

const optionKeys: KeysOf<SqliteOptions> = {
  consumers: true,
  recordRetention: true,
  encrypt: true,
  synchronous: true,
  maxBytes: true,
  eventRetention: true,
  clock: true,
}

export interface SqliteStore extends LateParts {
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
  close(): void
}

/**
 * Stores sessions, events, money, values and records in one SQLite file, which the processes of one machine may share. It creates missing
 * files and tables, and brings older ones to this version.
 *
 * @param path the file; ":memory:" for a store that ends with the process
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.readonly`, `store.full`
 *
 * @example
 * const store = sqlite('allium.db')
 * const agent = new Agent({ model }).use(memory.persist({ store: store.sessions }))
 */
export function sqlite(path: string, options: SqliteOptions = {}): SqliteStore {
  checkOptions(options, optionKeys, 'sqlite()', 'options.invalid')
  if (typeof path !== 'string')
    throw new AlliumError('options.invalid', `sqlite() takes the path of a file, or ":memory:", not ${describe(path)}.`)
  const {
    encrypt,
    synchronous = 'full',
    maxBytes,
    eventRetention = hour,
    clock: testClockOption,
    ...outboxOptions
  } = options
  const db = new Database(path, { synchronous, maxBytes })
  const clock = testClockOption === undefined ? machineClock() : testClock(testClockOption)
  const sealer = new Sealer(encrypt)
  const erasures = new ErasureLog(db, clock)
  const leases = new Leases(db, clock, erasures)
  const writers = new Writers(db, leases, erasures)
  const blobTable = new SqliteBlobs(db, clock, leases, erasures)
  const blobs = new Blobs(blobTable, sealer)
  const late = () => import('@allium/store-sqlite/late')
  const parts: StoreParts = { db, clock, leases, writers, sealer, erasures, blobs, blobTable }
  return {
    sessions: sqliteSessions(parts, outboxOptions),
    runs: sqliteRuns(parts),
    schedules: sqliteSchedules(parts),
    operations: new SqliteOperations(parts),
    events: polledEventLog(new SqliteEvents(parts, eventRetention), sealer, testClockOption, { blobs }),
    ledger: sqliteLedger(parts),
    keyValue: sqliteKeyValue(parts),
    vault: sqliteVault(parts),
    ...lateParts(sealer.encrypts, async () => (await late()).lateParts(parts)),
    audit: auditStore(sqliteAudit(db, clock), sealer),
    usage: async (query) => (await late()).sqliteUsage(db, erasures, query),
    close: () => db.close(),
  }
}
