import type { BulkAction, Operations } from '@allium/durable/operations'
import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { toLine } from '../print-run.ts'
import { print, report } from './report.ts'
import type { RunsArguments } from './runs-arguments.ts'

/** The changes of many runs, with the word for them. */
const changes: Readonly<Partial<Record<RunsArguments['command'], { action: BulkAction; verb: string; done: string }>>> =
  {
    stop: { action: 'stop', verb: 'stop', done: 'Stopping at the next step' },
    'force-stop': { action: 'forceStop', verb: 'end', done: 'Ended' },
    retry: { action: 'retry', verb: 'queue', done: 'Queued again' },
    migrate: { action: 'migrate', verb: 'move', done: 'Moved' },
  }

/** Changes all runs that match the conditions of `--where`. Without `--yes` or with `--dry-run`, prints their number. */
export async function changeMany(ops: Operations, args: RunsArguments, context: CommandContext): Promise<number> {
  const { command, conditions: where, tenant, isConfirmed, isDryRun, to, operator, reason, json } = args
  const { action, verb, done } = changes[command] as NonNullable<(typeof changes)[typeof command]>
  const dryRun = isDryRun || !isConfirmed
  const by = { operator, reason, ...(action === 'migrate' && { to }) }
  const result = await ops.bulk(action, {
    where: { ...where, ...(tenant !== undefined && { tenant }) },
    dryRun,
    ...by,
  })
  const { matched, more, changed, refused } = result
  const many = `${matched}${more ? ' or more' : ''} ${matched === 1 && !more ? 'run' : 'runs'}`
  if (dryRun) {
    const hint = `Found ${many}. Nothing was changed. Repeat the command with --yes to ${verb} them.`
    return report(result, hint, { isDone: isDryRun, json }, context)
  }
  const text = `${done}: ${changed} of ${many}.${more ? ' Repeat the command for the others.' : ''}`
  if (json) context.stdout.write(`${toLine(result)}\n`)
  else {
    const rows = refused.map((one) => [one.run, one.tenant, one.reason])
    print(
      result,
      [[[text]], ...(rows.length > 0 ? [[['RUN', 'TENANT', 'REFUSED BECAUSE'], ...rows]] : [])],
      false,
      context,
    )
  }
  return changed === matched && !more ? exitCodes.ok : exitCodes.failed
}
