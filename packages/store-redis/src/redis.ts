import type { Logger } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { EventLog, KeyValue, MakeRateCounter } from '@allium/store'
import { type Encryption, hour, polledEventLog, Sealer } from '@allium/store-sql'
import { Client, type RedisClient } from './client.ts'
import { ErasureLog } from './erasure-log.ts'
import { RedisEvents } from './event-table.ts'
import { redisKeyValue } from './key-value.ts'
import { type LossyLedger, redisLedger } from './ledger.ts'
import { redisRateLimits } from './rate-limits.ts'

export interface RedisOptions {
  /** The prefix of all keys. @default 'allium' */
  prefix?: string | undefined
  /** How long the events of a run are kept after its end, in milliseconds. @default 1 hour */
  eventRetention?: number | undefined
  /** Encrypts events and values. @default none: they are stored as JSON */
  encrypt?: Encryption | undefined
  /** Receives a warning when the ledger is first used. @default the console */
  logger?: Logger | undefined
}

const optionKeys: KeysOf<RedisOptions> = { prefix: true, eventRetention: true, encrypt: true, logger: true }

export interface RedisStore {
  readonly keyValue: KeyValue
  readonly events: EventLog
  /** `store` of `guard.rateLimit`. */
  readonly limits: MakeRateCounter
  /** Loses the amounts spent when Redis loses data. */
  readonly ledger: LossyLedger
  /** Closes its own connection; a client that was passed in stays open. */
  close(): void
}

/**
 * Stores data in Redis that may be lost: cache values, events of runs, rate limits, and a ledger marked as lossy. Sessions and money
 * belong in Postgres or SQLite. After a flush, caches are empty, rate windows reset, and readers of a run receive its stored text.
 *
 * @param connection a URL such as `redis://localhost:6379` to open a connection, or an ioredis client
 *
 * @example
 * const store = redis(process.env.REDIS_URL ?? 'redis://localhost:6379')
 * agent.use(guard.rateLimit({ limit: 10, store: store.limits }))
 */
export function redis(connection: string | RedisClient, options: RedisOptions = {}): RedisStore {
  checkOptions(options, optionKeys, 'redis()', 'options.invalid')
  const { prefix = 'allium', eventRetention = hour, encrypt, logger = console } = options
  const client = new Client(connection, prefix)
  const sealer = new Sealer(encrypt)
  const erasures = new ErasureLog(client)
  return {
    keyValue: redisKeyValue(client, sealer, erasures),
    events: polledEventLog(new RedisEvents(client, eventRetention, erasures), sealer),
    limits: redisRateLimits(client, prefix),
    ledger: redisLedger(client, logger),
    close: () => client.close(),
  }
}
