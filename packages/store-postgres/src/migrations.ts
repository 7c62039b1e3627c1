import { checkOptions } from '@allium/core'
import { appendsAgain } from './appends-again.ts'
import { auditKeys } from './audit-keys.ts'
import { blobTables } from './blob-tables.ts'
import { byAgent } from './by-agent.ts'
import { digestedAccounts } from './digested-accounts.ts'
import { erasedData } from './erased-data.ts'
import { functions } from './functions.ts'
import { eventFunctions } from './functions-events.ts'
import { runFunctions } from './functions-runs.ts'
import { holdsThatEnd } from './holds-that-end.ts'
import { listsInOrder } from './lists-in-order.ts'
import { oneWayIn } from './one-way-in.ts'
import { outboxCursors } from './outbox-cursors.ts'
import { runBlobs } from './run-blobs.ts'
import { runsUnlessBusy } from './runs-unless-busy.ts'
import { quoted } from './schema-name.ts'
import { tables } from './tables.ts'
import { eventTables } from './tables-events.ts'
import { runTables } from './tables-runs.ts'

/** The schema, step by step: what stands here is never changed, only added to. `{s}` stands for its quoted name. */
export const steps: readonly string[] = [
  `${tables}\n${functions}`,
  holdsThatEnd,
  `${eventTables}\n${eventFunctions}`,
  `${runTables}\n${runFunctions}`,
  auditKeys,
  oneWayIn,
  runsUnlessBusy,
  appendsAgain,
  outboxCursors,
  byAgent,
  listsInOrder,
  `${erasedData}\n${digestedAccounts}`,
  blobTables,
  runBlobs,
]

/** The version that this package works with. */
export const newest = steps.length

/** What brings a database from one version to another, as statements of one transaction. */
export function migration(schema: string, from: number, to = newest): string {
  const s = quoted(schema)
  const parts = steps.slice(from, to).map((step) => step.replaceAll('{s}', s).trim())
  if (from === 0) parts.unshift(begins(schema))
  return [...parts, `update ${s}.schema_version set version = ${to};`].join('\n\n')
}

/** Who may not create schemas may have been given one. */
function begins(schema: string): string {
  const s = quoted(schema)
  return `do $$ begin
  if not exists (select from pg_namespace where nspname = '${schema}') then create schema ${s}; end if;
end $$;
create table ${s}.schema_version (version integer not null);
insert into ${s}.schema_version values (0);`
}

/**
 * The SQL that `postgres()` runs where it migrates, for teams whose programs have no right to create tables.
 *
 * @param options.schema as it is given to `postgres()` @default 'allium'
 * @param options.from the version that the database has; 0 where it has none @default 0
 *
 * @example
 * await writeFile('allium.sql', postgresSql({ schema: 'agents' }))
 */
export function postgresSql(options: { schema?: string | undefined; from?: number | undefined } = {}): string {
  checkOptions(options, { schema: true, from: true }, 'postgresSql()', 'options.invalid')
  const { schema = 'allium', from = 0 } = options
  if (!Number.isInteger(from) || from < 0 || from > newest)
    throw new TypeError(`There is no schema ${from} to begin from. Give a whole number from 0 to ${newest}.`)
  return `begin;\n\n${migration(schema, from)}\n\ncommit;\n`
}
