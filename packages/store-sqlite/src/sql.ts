import { checkOptions } from '@allium/core/internal'
import { versions } from './schema/versions.ts'

/**
 * Returns the SQL of `sqlite()`'s schema, for reading or review. `sqlite()` runs it itself.
 *
 * @param options.from the version of the file; 0 for a new one @default 0
 */
export function sqliteSql(options: { from?: number | undefined } = {}): string {
  checkOptions(options, { from: true }, 'sqliteSql()', 'options.invalid')
  const { from = 0 } = options
  if (!Number.isInteger(from) || from < 0 || from > versions.length)
    throw new TypeError(
      `There is no schema version ${from} to start from. Pass a whole number from 0 to ${versions.length}.`,
    )
  const steps = versions.slice(from).map((step) => step.trim())
  return ['begin immediate;', ...steps, `pragma user_version = ${versions.length};`, 'commit;\n'].join('\n\n')
}
