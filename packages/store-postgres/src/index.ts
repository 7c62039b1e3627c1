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
export { postgresSql } from './migrations.ts'
export type { PostgresClient, PostgresPool } from './pool.ts'
export { type PostgresOptions, type PostgresStore, postgres } from './postgres.ts'
