import { checkOptions } from '@allium/core/internal'
import { migration } from './schema/migration.ts'
import { versions } from './schema/versions.ts'

/** For `postgres()`, which loads it when the schema is created. @internal */
export { migration }

/**
 * Returns the SQL of `postgres()`'s schema, for applications that may not create tables.
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
  if (!Number.isInteger(from) || from < 0 || from > versions.length)
    throw new TypeError(
      `There is no schema version ${from} to start from. Pass a whole number from 0 to ${versions.length}.`,
    )
  return `begin;\n\n${migration(schema, from)}\n\ncommit;\n`
}
