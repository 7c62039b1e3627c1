import { parseArgs } from 'node:util'
import type { OperatedSchedule, OperatedSchedules } from '@allium/durable/operations'
import { messageOf } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'
import { openRunStore } from './open-run-store.ts'
import { asksForHelp, withUsageErrors } from './operator-command.ts'
import { print, report } from './report.ts'
import { moreOf, time } from './run-tables.ts'
import type { Table } from './table.ts'

export const schedulesHelp = `Usage: allium schedules <command> --store <where>
  list         schedules with their next and last ticks; --tenant, --owner, --agent, --paused, --limit <50>,
               --cursor <from the previous page>
  pause <id>   stops the ticks of a schedule; active runs continue
  resume <id>  continues with the next tick from now on
  run <id>     makes the schedule due now: a process of its agent starts the run at its next poll

  --tenant <name>, --owner <name>
               needed only if several owners have a schedule with the same id
  --operator <name> --reason <text>
               records a change in the audit
  --store <where>
               a SQLite file, postgres://…, or a module that exports a store; default: ALLIUM_STORE
  --json       JSON instead of a table

Exit codes: 0 done, 1 failed, 2 mistake in the command
`

const string = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const common = { store: string, tenant: string, owner: string, json: flag }
const options = {
  list: { ...common, agent: string, paused: flag, limit: string, cursor: string },
  change: { ...common, operator: string, reason: string },
}

const texts = {
  pause: 'The schedule is paused.',
  resume: 'The schedule continues with its next tick.',
  run: 'The schedule is due now. A process of its agent starts the run at its next poll.',
}

/** `allium schedules list`: shows, pauses, resumes and runs the schedules of a store. @throws UsageError */
export async function schedulesCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  if (asksForHelp(argv)) {
    context.stdout.write(schedulesHelp)
    return exitCodes.ok
  }
  const [command = '', ...rest] = argv
  if (command !== 'list' && !isChange(command))
    throw new UsageError('"allium schedules" takes list, pause, resume or run.')
  const { values, positionals } = parsed(command, rest)
  const { operations } = await importOptional('@allium/durable', () => import('@allium/durable/operations'))
  const store = await openRunStore(values.store, context)
  try {
    const { schedules } = operations({ store })
    return await withUsageErrors(async () =>
      command === 'list'
        ? list(schedules, values, context)
        : change(schedules, command, { ...values, id: positionals[0] ?? '' }, context),
    )
  } finally {
    await store.close()
  }
}

type Values = ReturnType<typeof parsed>['values']

async function list(schedules: OperatedSchedules, { json, limit, ...values }: Values, context: CommandContext) {
  const { tenant, owner, agent, paused, cursor } = values
  const of = { tenant, owner, agent, paused, cursor, limit: limit === undefined ? undefined : Number(limit) }
  const page = await schedules.list(of)
  return print(page, [table(page.items), ...moreOf('schedules', page.cursor)], json === true, context)
}

async function change(
  schedules: OperatedSchedules,
  command: keyof typeof texts,
  { id, json, tenant, owner, operator, reason }: Values & { id: string },
  context: CommandContext,
) {
  const schedule = await schedules[command](id, { tenant, owner, operator, reason })
  return report(schedule, texts[command], { isDone: true, json: json === true }, context)
}

function table(items: readonly OperatedSchedule[]): Table {
  const names = ['SCHEDULE', 'TENANT', 'OWNER', 'AGENT', 'CRON', 'ZONE', 'STATE', 'NEXT', 'LAST', 'LAST RUN']
  const rows = items.map(({ id, tenant, owner, agent, cron, tz, paused, nextAt, lastAt, lastRun = '-' }) => [
    ...[id, tenant, owner, agent, cron, tz, paused ? 'paused' : 'active'],
    ...[nextAt === undefined ? '-' : time(nextAt), lastAt === undefined ? '-' : time(lastAt), lastRun],
  ])
  return [names, ...rows]
}

function isChange(command: string): command is keyof typeof texts {
  return Object.hasOwn(texts, command)
}

function parsed(command: string, argv: readonly string[]) {
  const isList = command === 'list'
  const { values, positionals } = parse(argv, isList)
  if (positionals.length !== (isList ? 0 : 1))
    throw new UsageError(`"allium schedules ${command}" takes ${isList ? 'no schedule' : 'the id of one schedule'}.`)
  return { values, positionals }
}

function parse(argv: readonly string[], isList: boolean) {
  try {
    const given = isList ? options.list : options.change
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: given as typeof options.list & typeof options.change,
    })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
