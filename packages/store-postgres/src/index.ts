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
export type { PostgresClient, PostgresPool } from './database/pool.ts'
export { type PostgresOptions, type PostgresStore, postgres } from './postgres.ts'
