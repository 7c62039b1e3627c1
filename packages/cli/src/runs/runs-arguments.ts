import { parseArgs } from 'node:util'
import type { ListRunsOptions } from '@allium/durable/operations'
import { messageOf } from 'allium'
import { UsageError } from '../exit-codes.ts'

const commands = ['list', 'summary', 'show', 'stop', 'retry', 'migrate', 'export'] as const
type RunsCommand = (typeof commands)[number]

export const runsHelp = `Usage: allium runs <command> --store <where>
  list            runs, newest first; --tenant, --status, --agent, --version, --code, --older-than <10m>,
                  --limit <50>, --cursor <from the previous page>
  summary         how many runs, and how old the oldest is, by status, agent and version; failures by code; --tenant
  show <run>      one run with its steps
  stop <run>      stops a run at its next step; --operator <name> --reason <text> record it in the audit
  retry <run>     queues a failed run again; --operator <name> --reason <text> record it in the audit
  migrate <run>   replays the steps of a run with the agent of a module, and moves the run to its version if they
                  fit; --to <version> --module <src/agent.ts>; --export <name of the agent>;
                  --check changes nothing; --operator <name> --reason <text> record a move in the audit
  export <run>    one JSON document; with --content --operator <name> --reason <text> also the content,
                  which the audit records

  --store <where>  a SQLite file, postgres://…, or a module that exports a store; default: ALLIUM_STORE
  --tenant <name>  the tenant of a run; needed only if two tenants have the same id
  --json           JSON instead of a table

Exit codes: 0 done, 1 failed, nothing to stop or retry, or a run that does not fit or was not moved, 2 mistake in the command
`

export interface RunsArguments {
  readonly command: RunsCommand
  /** The id of the run; empty for `list` and `summary`. */
  readonly run: string
  readonly store: string | undefined
  readonly json: boolean
  readonly tenant: string | undefined
  readonly list: ListRunsOptions
  readonly content: boolean
  readonly operator: string | undefined
  readonly reason: string | undefined
  /** For `migrate`. */
  readonly migration: MigrationArguments | undefined
}

interface MigrationArguments {
  readonly to: string
  readonly module: string
  readonly exportName: string | undefined
  readonly check: boolean
}

const string = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** @throws UsageError */
export function runsArguments(argv: readonly string[]): RunsArguments {
  const { values, positionals } = parsed(argv)
  const [command, run = '', ...extra] = positionals
  if (!isCommand(command))
    throw new UsageError('"allium runs" takes list, summary, show, stop, retry, migrate or export.')
  const needsRun = command !== 'list' && command !== 'summary'
  if (needsRun !== (run !== '') || extra.length > 0)
    throw new UsageError(`"allium runs ${command}" takes ${needsRun ? 'the id of one run' : 'no run'}.`)
  const { store, json = false, tenant, content = false, operator, reason } = values
  const { status, agent, version, code, cursor } = values
  const list = {
    ...{ tenant, status: status as ListRunsOptions['status'], agent, version, code, cursor },
    limit: values.limit === undefined ? undefined : Number(values.limit),
    olderThan: values['older-than'] === undefined ? undefined : milliseconds(values['older-than']),
  }
  if (content && (command !== 'export' || operator === undefined || reason === undefined))
    throw new UsageError('--content belongs to "allium runs export", with --operator <name> and --reason <text>.')
  const migration = command === 'migrate' ? migrationOf(values) : undefined
  return { command, run, store, json, tenant, list, content, operator, reason, migration }
}

function migrationOf({ to, module, check = false, export: exportName }: ReturnType<typeof parsed>['values']) {
  if (to === undefined || module === undefined)
    throw new UsageError('"allium runs migrate" needs --to <version> and --module <src/agent.ts>.')
  return { to, module, check, exportName }
}

function isCommand(command: string | undefined): command is RunsCommand {
  return (commands as readonly (string | undefined)[]).includes(command)
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...{ store: string, tenant: string, status: string, agent: string, version: string, code: string },
        ...{ cursor: string, limit: string, 'older-than': string, operator: string, reason: string },
        ...{ to: string, module: string, export: string },
        ...{ json: flag, content: flag, check: flag },
      },
    })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function milliseconds(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (number === undefined) throw new UsageError(`--older-than is "${text}". Give a time such as 30s, 10m, 2h or 7d.`)
  return Number(number) * units[unit as keyof typeof units]
}
