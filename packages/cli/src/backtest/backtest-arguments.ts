import { UsageError } from '../exit-codes.ts'
import { parsed, recordedOptions, timeOf, wholeOf } from '../recorded-arguments.ts'

/** A parsed `allium backtest`. */
export interface BacktestArguments {
  readonly module: string
  readonly exportName: string | undefined
  readonly store: string | undefined
  /** The name under which the recorded agent stores its sessions. */
  readonly agent: string | undefined
  readonly tenant: string | undefined
  /** Milliseconds since the epoch. */
  readonly since: number | undefined
  readonly until: number | undefined
  /** The maximum number of recordings to read. */
  readonly limit: number | undefined
  readonly maxNewDenials: number | undefined
  readonly json: boolean
}

export const backtestHelp = `Usage:
  allium backtest <module>   runs recorded tool calls through the tool layers of a changed agent; no model and no tool runs

The module exports an unused agent, or a function that returns one. Needs @allium/replay.

  --store <where>        where the recordings and the sessions are: a file such as chats.db, postgres://…, or a module that
                         exports a store, for one with encryption; default: ALLIUM_STORE
  --since <time>         only turns from then on: 30d, 12h or 90m ago, or a date such as 2026-11-01; default: all
  --until <time>         only turns before then
  --tenant <tenant>      default: all tenants
  --agent <name>         the name of the recorded agent; default: that of the module's agent
  --limit <count>        the maximum number of recordings, the newest ones; default: 100000
  --max-new-denials <n>  exit code 1 if more calls are newly denied, or if no call could be judged
  --export <name>        the export of the module; default: default, else agent
  --json                 the report as JSON
`

const options = { ...recordedOptions, limit: { type: 'string' }, 'max-new-denials': { type: 'string' } } as const

/** Returns undefined if the help is requested. @throws UsageError */
export function backtestArguments(argv: readonly string[], now: number): BacktestArguments | undefined {
  const { values, positionals } = parsed(argv, options)
  if (values.help === true) return undefined
  const [module, ...extra] = positionals
  if (module === undefined || extra.length > 0)
    throw new UsageError(
      '"allium backtest" takes the module of one agent: allium backtest src/agent.ts --store chats.db.',
    )
  const { store, tenant, agent, export: exportName, json = false } = values
  return {
    ...{ module, exportName, store, agent, tenant, json },
    since: timeOf('--since', values.since, now),
    until: timeOf('--until', values.until, now),
    limit: wholeOf('--limit', values.limit, 1),
    maxNewDenials: wholeOf('--max-new-denials', values['max-new-denials'], 0),
  }
}
