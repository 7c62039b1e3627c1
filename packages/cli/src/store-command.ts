import { parseArgs } from 'node:util'
import { messageOf } from 'allium'
import type { CommandContext } from './command-context.ts'
import { exitCodes, UsageError } from './exit-codes.ts'
import { importOptional } from './import-optional.ts'
import { openRunStore } from './runs/open-run-store.ts'
import { print } from './runs/report.ts'
import { age } from './runs/run-tables.ts'

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

const string = { type: 'string' } as const

/** `allium store sql …`, and the commands for the recordings, the feedback and the memory of a store. @throws UsageError */
export async function storeCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const [subcommand, ...rest] = argv
  if (subcommand === 'sql') return printSql(rest, context)
  if (subcommand === 'recordings') return printRecordings(rest, context)
  if (subcommand === 'feedback') {
    const { printFeedback } = await import('./store-feedback.ts')
    return printFeedback(rest, context)
  }
  if (subcommand === 'reindex') {
    const { reindexStore } = await import('./store-reindex.ts')
    return reindexStore(rest, context)
  }
  if (subcommand === 'memory') {
    const { switchMemory } = await import('./store-memory.ts')
    return switchMemory(rest, context)
  }
  throw new UsageError(usage)
}

/** `allium store sql postgres --schema agents --from 1`: prints the SQL of a store. */
async function printSql(argv: readonly string[], { stdout }: CommandContext): Promise<number> {
  const { values, positionals } = parsed(argv, { schema: string, from: string })
  const [name = '', ...extra] = positionals
  const sqlOf = Object.hasOwn(printers, name) ? printers[name] : undefined
  if (sqlOf === undefined || extra.length > 0) throw new UsageError(usage)
  const from = values.from === undefined ? undefined : Number(values.from)
  try {
    stdout.write(await sqlOf({ schema: values.schema, from }))
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
  return exitCodes.ok
}

/** `allium store recordings --store chats.db`: shows the recorded turns of each tenant. */
async function printRecordings(argv: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parsed(argv, { store: string, json: { type: 'boolean' } })
  if (positionals.length > 0) throw new UsageError(usage)
  const store = await openRunStore(values.store, context)
  try {
    if (store.recordings === undefined) throw new UsageError('The store has no recordings.')
    const recordings = await store.recordings.sizes()
    const now = Date.now()
    const rows = recordings.map(({ tenant, count, bytes, oldestAt }) => [
      tenant,
      String(count),
      size(bytes),
      age(now - oldestAt),
    ])
    return print({ recordings }, [[['tenant', 'recordings', 'size', 'oldest'], ...rows]], values.json === true, context)
  } finally {
    await store.close()
  }
}

function size(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), 3)
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${['B', 'kB', 'MB', 'GB'][power]}`
}

const usage = `"allium store" prints the SQL of a store, shows its recordings or its feedback, or writes the index of recall again or switches memory: allium store sql ${Object.keys(printers).join('|')}, allium store recordings --store <where>, allium store feedback --store <where>, allium store reindex --store <where> --tenant <tenant> --agent <agent>, allium store memory --store <where> --tenant <tenant>.`

function parsed<T extends Record<string, { type: 'string' | 'boolean' }>>(argv: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
