import { checkOptions } from '@allium/core'
import { migrations } from './migrations/migrations.ts'

/**
 * The SQL that `sqlite()` runs where it migrates, to be read or reviewed: `sqlite()` runs it itself.
 *
 * @param options.from the version that the file has; 0 where it has none @default 0
 */
export function sqliteSql(options: { from?: number | undefined } = {}): string {
  checkOptions(options, { from: true }, 'sqliteSql()', 'options.invalid')
  const { from = 0 } = options
  if (!Number.isInteger(from) || from < 0 || from > migrations.length)
    throw new TypeError(`There is no schema ${from} to begin from. Give a whole number from 0 to ${migrations.length}.`)
  const steps = migrations.slice(from).map((step) => step.trim())
  return ['begin immediate;', ...steps, `pragma user_version = ${migrations.length};`, 'commit;\n'].join('\n\n')
}
