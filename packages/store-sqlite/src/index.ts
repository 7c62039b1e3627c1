export type {
  AuditChain,
  AuditStore,
  Encryption,
  EncryptionContext,
  OutboxOptions,
  UsageDay,
  UsageQuery,
  Vault,
} from '@allium/store-sql'
export { sqliteSql } from './sql.ts'
export { type SqliteOptions, type SqliteStore, sqlite } from './sqlite.ts'
