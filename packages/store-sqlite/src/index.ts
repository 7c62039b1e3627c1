export type { Encrypt, OutboxOptions, SealedPlace, UsageAsked, UsageDay } from '@allium/store-sql'
export { type SqliteOptions, type SqliteStore, sqlite } from './sqlite.ts'
