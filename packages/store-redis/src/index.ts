export type { Encryption, EncryptionContext } from '@allium/store-sql'
export type { RedisClient } from './client.ts'
export type { LossyLedger } from './ledger.ts'
export { type RedisOptions, type RedisStore, redis } from './redis.ts'
