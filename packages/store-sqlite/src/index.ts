export type { Encrypt, SealedPlace } from '@allium/store-sql'
export type { OutboxOptions } from './outbox.ts'
export { type SqliteOptions, type SqliteStore, sqlite } from './sqlite.ts'
