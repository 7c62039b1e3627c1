import { UsageError } from '../exit-codes.ts'
import { parsed, recordedOptions, timeOf, wholeOf } from '../recorded-arguments.ts'

/** A parsed `allium replay`. */
export interface ReplayArguments {
  readonly module: string
  readonly exportName: string | undefined
  readonly store: string | undefined
  /** The name under which the recorded agent stores its sessions. */
  readonly agent: string | undefined
  readonly tenant: string | undefined
  readonly turn: string | undefined
  readonly session: string | undefined
  /** Milliseconds since the epoch. */
  readonly since: number | undefined
  readonly until: number | undefined
  readonly mode: 'pinned' | 'exact'
  readonly without: readonly string[]
  readonly maxDifferences: number | undefined
  readonly json: boolean
}

export const replayHelp = `Usage:
  allium replay <module>   runs recorded turns through a changed agent; models and tools answer from the recording

The module exports an unused agent, or a function that returns one. Needs @allium/replay.

  --store <where>         where the recordings and the sessions are: a file such as chats.db, postgres://…; default: ALLIUM_STORE
  --turn <id>             only this turn
  --session <id>          only turns of this session
  --since <time>          only turns from then on: 7d, 12h or 90m ago, or a date such as 2026-11-01; default: all
  --until <time>          only turns before then
  --tenant <tenant>       default: all tenants
  --agent <name>          the name of the recorded agent; default: that of the module's agent
  --mode pinned|exact     whether differences in requests count; default: pinned, they do not
  --without <layer>       leaves out the turn, model and tool hooks of a layer; may be repeated
  --max-differences <n>   exit code 1 if more turns differ, or if no turn could be replayed; default: 0
  --export <name>         the export of the module; default: default, else agent
  --json                  the report as JSON
`

const text = { type: 'string' } as const
const without = { type: 'string', multiple: true } as const
const options = { ...recordedOptions, turn: text, session: text, mode: text, 'max-differences': text, without } as const

/** Returns undefined if the help is requested. @throws UsageError */
export function replayArguments(argv: readonly string[], now: number): ReplayArguments | undefined {
  const { values, positionals } = parsed(argv, options)
  if (values.help === true) return undefined
  const [module, ...extra] = positionals
  if (module === undefined || extra.length > 0)
    throw new UsageError('"allium replay" takes the module of one agent: allium replay src/agent.ts --store chats.db.')
  const { store, turn, session, tenant, agent, mode = 'pinned', without: left = [], json = false } = values
  if (mode !== 'pinned' && mode !== 'exact') throw new UsageError(`--mode is "${mode}". Give pinned or exact.`)
  return {
    ...{ module, exportName: values.export, store, turn, session, tenant, agent, mode, without: left, json },
    since: timeOf('--since', values.since, now),
    until: timeOf('--until', values.until, now),
    maxDifferences: wholeOf('--max-differences', values['max-differences'], 0),
  }
}
