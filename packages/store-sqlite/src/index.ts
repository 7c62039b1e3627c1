export type {
  Encrypt,
  OutboxOptions,
  SealedPlace,
  StoredAudit,
  StoredChain,
  UsageAsked,
  UsageDay,
  Vault,
} from '@allium/store-sql'
export { sqliteSql } from './sql.ts'
export { type SqliteOptions, type SqliteStore, sqlite } from './sqlite.ts'
