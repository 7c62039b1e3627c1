export type { Encrypt, OutboxOptions, SealedPlace } from '@allium/store-sql'
export { type SqliteOptions, type SqliteStore, sqlite } from './sqlite.ts'
