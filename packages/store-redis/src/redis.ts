import {
  checkOptions,
  type EventLog,
  type KeysOf,
  type KeyValue,
  type Logger,
  type MakeRateCounter,
} from '@allium/core'
import { type Encryption, hour, polledEventLog, Sealer } from '@allium/store-sql'
import { Client, type RedisClient } from './client.ts'
import { ErasureLog } from './erasure-log.ts'
import { redisEvents } from './event-table.ts'
import { redisKeyValue } from './key-value.ts'
import { type LossyLedger, redisLedger } from './ledger.ts'
import { redisRateLimits } from './rate-limits.ts'

export interface RedisOptions {
  /** What all keys begin with. @default 'allium' */
  prefix?: string | undefined
  /** Milliseconds that the events of a run are kept after its end. @default 1 hour */
  eventTtl?: number | undefined
  /** What events and values are sealed with. @default none: they stand in Redis as JSON */
  encrypt?: Encryption | undefined
  /** Is told when the ledger is used first. @default the console */
  logger?: Logger | undefined
}

const optionKeys: KeysOf<RedisOptions> = { prefix: true, eventTtl: true, encrypt: true, logger: true }

export interface RedisStore {
  readonly keyValue: KeyValue
  readonly events: EventLog
  /** `store` of `guard.rateLimit`. */
  readonly limits: MakeRateCounter
  /** Forgets what was spent when Redis forgets. */
  readonly ledger: LossyLedger
  /** Ends its connection; a client that was given stays. */
  close(): void
}

/**
 * Keeps in Redis what may be lost: values of caches, events of runs, rate limits, and a ledger that says so. Sessions and money
 * belong into Postgres or SQLite. After a flush caches are empty, windows begin anew, and who reads a run gets its stored text.
 *
 * @param connection a URL, `redis://localhost:6379`, for a connection of its own, or a client of ioredis
 *
 * @example
 * const store = redis(process.env.REDIS_URL ?? 'redis://localhost:6379')
 * agent.use(guard.rateLimit({ limit: 10, store: store.limits }))
 */
export function redis(connection: string | RedisClient, options: RedisOptions = {}): RedisStore {
  checkOptions(options, optionKeys, 'redis()', 'options.invalid')
  const { prefix = 'allium', eventTtl = hour, encrypt, logger = console } = options
  const client = new Client(connection, prefix)
  const sealer = new Sealer(encrypt)
  const erasures = new ErasureLog(client)
  return {
    keyValue: redisKeyValue(client, sealer, erasures),
    events: polledEventLog(redisEvents(client, eventTtl, erasures), sealer),
    limits: redisRateLimits(client, prefix),
    ledger: redisLedger(client, logger),
    close: () => client.close(),
  }
}
