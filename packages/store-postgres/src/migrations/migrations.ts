import { checkOptions } from '@allium/core/internal'
import { runBlobs } from '../run-blobs.ts'
import { quoted } from '../schema-name.ts'
import { functions } from './0001-base-functions.ts'
import { tables } from './0001-base-tables.ts'
import { holdExpiry } from './0002-hold-expiry.ts'
import { eventFunctions } from './0003-event-functions.ts'
import { eventTables } from './0003-event-tables.ts'
import { runFunctions } from './0004-run-functions.ts'
import { runTables } from './0004-run-tables.ts'
import { auditKeys } from './0005-audit-keys.ts'
import { tenantIndexes } from './0006-tenant-indexes.ts'
import { addRunUnlessBusy } from './0007-add-run-unless-busy.ts'
import { idempotentAppends } from './0008-idempotent-appends.ts'
import { outboxCursors } from './0009-outbox-cursors.ts'
import { sessionAgents } from './0010-session-agents.ts'
import { listIndexes } from './0011-list-indexes.ts'
import { accountDigests } from './0012-account-digests.ts'
import { erasures } from './0012-erasures.ts'
import { blobs } from './0013-blobs.ts'
import { queues } from './0014-queues.ts'
import { schedules } from './0015-schedules.ts'
import { runLog } from './0016-run-log.ts'
import { migrateRun } from './0017-migrate-run.ts'

/** The schema, step by step. Steps are never changed, only added. `{s}` is replaced by the quoted schema name. */
export const migrations: readonly string[] = [
  `${tables}\n${functions}`,
  holdExpiry,
  `${eventTables}\n${eventFunctions}`,
  `${runTables}\n${runFunctions}`,
  auditKeys,
  tenantIndexes,
  addRunUnlessBusy,
  idempotentAppends,
  outboxCursors,
  sessionAgents,
  listIndexes,
  `${erasures}\n${accountDigests}`,
  blobs,
  runBlobs,
  queues,
  schedules,
  runLog,
  migrateRun,
]

/** The schema version that this package uses. */
export const latestVersion = migrations.length

/** Returns the statements that migrate a database from one version to another, for one transaction. */
export function migration(schema: string, from: number, to = latestVersion): string {
  const s = quoted(schema)
  const statements = migrations.slice(from, to).map((step) => step.replaceAll('{s}', s).trim())
  if (from === 0) statements.unshift(createSchema(schema))
  return [...statements, `update ${s}.schema_version set version = ${to};`].join('\n\n')
}

/** Creates the schema only if it is missing, because a user without the right to create schemas may have been given one. */
function createSchema(schema: string): string {
  const s = quoted(schema)
  return `do $$ begin
  if not exists (select from pg_namespace where nspname = '${schema}') then create schema ${s}; end if;
end $$;
create table ${s}.schema_version (version integer not null);
insert into ${s}.schema_version values (0);`
}

/**
 * Returns the SQL of `postgres()`'s migrations, for applications that may not create tables.
 *
 * @param options.schema the `schema` option of `postgres()` @default 'allium'
 * @param options.from the version of the database; 0 for a new one @default 0
 *
 * @example
 * await writeFile('allium.sql', postgresSql({ schema: 'agents' }))
 */
export function postgresSql(options: { schema?: string | undefined; from?: number | undefined } = {}): string {
  checkOptions(options, { schema: true, from: true }, 'postgresSql()', 'options.invalid')
  const { schema = 'allium', from = 0 } = options
  if (!Number.isInteger(from) || from < 0 || from > latestVersion)
    throw new TypeError(
      `There is no schema version ${from} to start from. Pass a whole number from 0 to ${latestVersion}.`,
    )
  return `begin;\n\n${migration(schema, from)}\n\ncommit;\n`
}
