import { parseArgs } from 'node:util'
import { messageOf } from 'allium'
import { UsageError } from '../exit-codes.ts'
import { type Conditions, conditionsOf } from './conditions.ts'

const string = { type: 'string' } as const
const flag = { type: 'boolean' } as const

const options = {
  ...{ store: string, tenant: string, status: string, agent: string, version: string, queue: string, owner: string },
  ...{ session: string, code: string, 'older-than': string, cursor: string, limit: string, call: string },
  ...{ operator: string, reason: string, to: string, module: string, export: string },
  where: { type: 'string', multiple: true },
  ...{ json: flag, content: flag, 'dry-run': flag, yes: flag, 'repeat-effects': flag },
} as const
type Option = keyof typeof options

const conditions = ['status', 'agent', 'version', 'queue', 'owner', 'session', 'code', 'older-than', 'where'] as const
const by = ['operator', 'reason'] as const
const many = [...by, 'where', 'yes'] as const

/** What a command takes: no run, one run, or one run or many; and its options besides those of all commands. */
const commands = {
  list: { takes: 'none', options: [...conditions, 'cursor', 'limit'] },
  summary: { takes: 'none', options: [] },
  queues: { takes: 'none', options: ['module', 'export'] },
  show: { takes: 'one', options: [] },
  stop: { takes: 'many', options: many },
  'force-stop': { takes: 'many', options: many },
  retry: { takes: 'many', options: many },
  migrate: { takes: 'many', options: [...many, 'to', 'module', 'export', 'dry-run'] },
  'start-again': { takes: 'one', options: [...by, 'repeat-effects'] },
  deny: { takes: 'one', options: [...by, 'call'] },
  export: { takes: 'one', options: [...by, 'content'] },
} as const satisfies Readonly<Record<string, { takes: 'none' | 'one' | 'many'; options: readonly Option[] }>>
type RunsCommand = keyof typeof commands

export interface RunsArguments {
  readonly command: RunsCommand
  /** The id of the run; empty for a command that takes none, and for many runs. */
  readonly run: string
  readonly store: string | undefined
  readonly json: boolean
  readonly tenant: string | undefined
  readonly conditions: Conditions
  readonly page: { readonly cursor: string | undefined; readonly limit: number | undefined }
  /** Whether a change of many runs is confirmed. */
  readonly isConfirmed: boolean
  readonly content: boolean
  readonly operator: string | undefined
  readonly reason: string | undefined
  readonly call: string | undefined
  readonly repeatEffects: boolean
  /** The module of the agent. */
  readonly module: string | undefined
  readonly exportName: string | undefined
  /** For `migrate`. */
  readonly to: string
  readonly isDryRun: boolean
}

/** @throws UsageError */
export function runsArguments(argv: readonly string[]): RunsArguments {
  const { values, positionals } = parsed(argv)
  const [command, run = '', ...extra] = positionals
  if (!isCommand(command)) throw new UsageError(`"allium runs" takes ${Object.keys(commands).join(', ')}.`)
  checkOptions(command, Object.keys(values) as Option[])
  checkRuns(command, { run, isFiltered: values.where !== undefined, extra })
  const { store, json = false, tenant, content = false, operator, reason, module, to } = values
  if (content && (operator === undefined || reason === undefined))
    throw new UsageError('--content belongs to "allium runs export", with --operator <name> and --reason <text>.')
  if (command === 'deny' && (operator === undefined || reason === undefined))
    throw new UsageError('"allium runs deny" needs --operator <name> and --reason <text>.')
  if (command === 'migrate' && (to === undefined || module === undefined))
    throw new UsageError('"allium runs migrate" needs --to <version> and --module <src/agent.ts>.')
  return {
    ...{ command, run, store, json, tenant, content, operator, reason, module, to: to ?? '' },
    isDryRun: values['dry-run'] === true,
    conditions: conditionsOf(values, values.where),
    page: { cursor: values.cursor, limit: values.limit === undefined ? undefined : Number(values.limit) },
    isConfirmed: values.yes === true,
    call: values.call,
    repeatEffects: values['repeat-effects'] === true,
    exportName: values.export,
  }
}

function checkOptions(command: RunsCommand, given: readonly Option[]): void {
  const known: readonly Option[] = [...commands[command].options, 'store', 'json', 'tenant']
  const other = given.find((name) => !known.includes(name))
  if (other !== undefined) throw new UsageError(`"allium runs ${command}" has no option --${other}.`)
}

function checkRuns(
  command: RunsCommand,
  { run, isFiltered, extra }: { run: string; isFiltered: boolean; extra: readonly string[] },
): void {
  const { takes } = commands[command]
  const isMany = takes === 'many' && isFiltered
  if (isMany && run !== '')
    throw new UsageError(`"allium runs ${command}" takes the id of one run or --where, not both.`)
  if (!isMany && (takes !== 'none') !== (run !== ''))
    throw new UsageError(
      `"allium runs ${command}" takes ${takes === 'none' ? 'no run' : takes === 'one' ? 'the id of one run' : 'the id of one run, or --where'}.`,
    )
  if (extra.length > 0)
    throw new UsageError(
      `"allium runs ${command}" takes ${takes === 'none' ? 'no run' : 'the id of one run'}. Choose several with --where.`,
    )
}

function isCommand(command: string | undefined): command is RunsCommand {
  return command !== undefined && Object.hasOwn(commands, command)
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
