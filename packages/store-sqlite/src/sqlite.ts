import {
  type Clock,
  checkOptions,
  type EventLog,
  type KeysOf,
  type KeyValue,
  type Ledger,
  type RunStore,
  type SessionStore,
} from '@allium/core'
import {
  type Encrypt,
  hour,
  type OutboxOptions,
  polledEventLog,
  Sealer,
  type StoredAudit,
  storedAudit,
  type UsageAsked,
  type UsageDay,
  type Vault,
} from '@allium/store-sql'
import { sqliteAudit } from './audit.ts'
import { Database } from './database.ts'
import { sqliteEvents } from './event-table.ts'
import { sqliteKeyValue } from './key-value.ts'
import { Leases } from './leases.ts'
import { sqliteLedger } from './ledger.ts'
import { Renames } from './renames.ts'
import { sqliteRuns } from './runs.ts'
import { sqliteSessions } from './sessions.ts'
import { givenClock, machineClock } from './sqlite-clock.ts'
import { sqliteUsage } from './usage.ts'
import { sqliteVault } from './vault.ts'

export interface SqliteOptions extends OutboxOptions {
  /** What sessions and records are sealed with. @default none: they stand in the file as JSON */
  encrypt?: Encrypt | undefined
  /**
   * When a write has reached the disk: with `full` before it is acknowledged; with `normal` the last ones may be lost where the
   * machine loses its power, and none where a process dies. @default 'full'
   */
  synchronous?: 'full' | 'normal' | undefined
  /** Bytes that the file may grow to; what would need more fails with `store.full`. @default as the disk allows */
  maxBytes?: number | undefined
  /** Milliseconds that the events of a run are kept after its end. @default 1 hour */
  eventTtl?: number | undefined
  /** @default the machine's, which all its processes share */
  clock?: Clock | undefined
}

const known: KeysOf<SqliteOptions> = {
  consumers: true,
  keepRecords: true,
  encrypt: true,
  synchronous: true,
  maxBytes: true,
  eventTtl: true,
  clock: true,
}

export interface SqliteStore {
  readonly sessions: SessionStore
  /** Of `durable()`. */
  readonly runs: RunStore
  readonly ledger: Ledger
  readonly events: EventLog
  readonly keyValue: KeyValue
  /**
   * What a tenant's runs have used, by day of UTC: of sessions that are still stored.
   *
   * @throws AlliumError `store.key` for what is no time
   */
  usage(of: UsageAsked): Promise<UsageDay[]>
  /** Of `guard.pii`. */
  readonly vault: Vault
  /** The sink of `observe.audit`, with a chain for each tenant. */
  readonly audit: StoredAudit
  close(): void
}

/**
 * Keeps sessions, events, money, values and records in one SQLite file, which the processes of one machine may share. The file and its tables
 * are made where they are missing, and brought to this version's form.
 *
 * @param path the file; ":memory:" for a store that ends with the process
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.readonly`, `store.full`
 *
 * @example
 * const store = sqlite('allium.db')
 * const agent = new Agent({ model }).use(memory.persist({ store: store.sessions }))
 */
export function sqlite(path: string, options: SqliteOptions = {}): SqliteStore {
  checkOptions(options, known, 'sqlite()', 'options.invalid')
  const { encrypt, synchronous = 'full', maxBytes, eventTtl = hour, clock: given, ...records } = options
  const db = new Database(path, { synchronous, maxBytes })
  const clock = given === undefined ? machineClock() : givenClock(given)
  const sealer = new Sealer(encrypt)
  const leases = new Leases(db, clock)
  const renames = new Renames(db, clock, leases, sealer)
  return {
    sessions: sqliteSessions(db, clock, { leases, sealer, renames }, records),
    runs: sqliteRuns(db, clock, { leases, sealer, renames }),
    events: polledEventLog(sqliteEvents(db, clock, eventTtl), sealer, given),
    ledger: sqliteLedger(db, clock),
    keyValue: sqliteKeyValue(db, clock, sealer),
    vault: sqliteVault(db, sealer, renames),
    audit: storedAudit(sqliteAudit(db, clock), sealer),
    usage: async (of) => sqliteUsage(db, of),
    close: () => db.close(),
  }
}
