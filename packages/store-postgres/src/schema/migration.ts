import { quoted } from './schema-name.ts'
import { versions } from './versions.ts'

/**
 * Returns the statements that bring a database from one version to the latest, for one transaction.
 *
 * @param steps the SQL that makes each version out of the one before @default those of this package
 */
export function migration(schema: string, from: number, steps = versions): string {
  const s = quoted(schema)
  const statements = steps.slice(from).map((step) => step.replaceAll('{s}', s).trim())
  if (from === 0) statements.unshift(createSchema(schema))
  return [...statements, `update ${s}.schema_version set version = ${steps.length};`].join('\n\n')
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
