import { parseArgs } from 'node:util'
import { messageOf } from 'allium'
import type { CommandContext } from './command-context.ts'
import { exitCodes, UsageError } from './exit-codes.ts'
import { importOptional } from './import-optional.ts'

/** Loads the SQL without the drivers, which the packages' main entries import. */
const printers: Readonly<Record<string, (options: SqlOptions) => Promise<string>>> = {
  async postgres(options) {
    return (await importOptional('@allium/store-postgres', () => import('@allium/store-postgres/sql'))).postgresSql(
      options,
    )
  },
  async sqlite({ from }) {
    return (await importOptional('@allium/store-sqlite', () => import('@allium/store-sqlite/sql'))).sqliteSql({ from })
  },
}

interface SqlOptions {
  readonly schema: string | undefined
  readonly from: number | undefined
}

/** `allium store sql postgres --schema agents --from 1`: prints the SQL of a store. @throws UsageError */
export async function storeCommand(argv: readonly string[], { stdout }: CommandContext): Promise<number> {
  const { values, positionals } = parsed(argv)
  const [subcommand, name = '', ...extra] = positionals
  const print = Object.hasOwn(printers, name) ? printers[name] : undefined
  if (subcommand !== 'sql' || print === undefined || extra.length > 0)
    throw new UsageError(
      `"allium store" prints the SQL of a store: allium store sql ${Object.keys(printers).join('|')}.`,
    )
  const from = values.from === undefined ? undefined : Number(values.from)
  try {
    stdout.write(await print({ schema: values.schema, from }))
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
  return exitCodes.ok
}

function parsed(argv: readonly string[]) {
  try {
    const options = { schema: { type: 'string' }, from: { type: 'string' } } as const
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
