import type { Operations } from '@allium/durable/operations'
import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'
import { toLine } from '../print-run.ts'
import { agentOfModule } from './agent-of-module.ts'
import { changeMany } from './change-many.ts'
import { openRunStore } from './open-run-store.ts'
import { asksForHelp, withUsageErrors } from './operator-command.ts'
import { print, report } from './report.ts'
import { listTables, queueTables, showTables, summaryTables } from './run-tables.ts'
import { type RunsArguments, runsArguments } from './runs-arguments.ts'
import { runsHelp } from './runs-help.ts'

/** `allium runs list --status failed`: shows and moves the durable runs of a store. @throws UsageError */
export async function runsCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  if (asksForHelp(argv)) {
    context.stdout.write(runsHelp)
    return exitCodes.ok
  }
  const args = runsArguments(argv)
  const { operations } = await importOptional('@allium/durable', () => import('@allium/durable/operations'))
  const { module, exportName } = args
  const code = module === undefined ? undefined : await agentOfModule(module, exportName, context.cwd())
  const store = await openRunStore(args.store, context, code?.store)
  const agents = code && { agents: [code.agent], resolvePrincipal: code.resolvePrincipal, queues: code.queues }
  const isMany = args.run === '' && args.command in byRun
  try {
    const ops = operations({ store, ...agents })
    return await withUsageErrors(() => (isMany ? changeMany : runs[args.command])(ops, args, context))
  } finally {
    await code?.agent.dispose()
    await store.close()
  }
}

type Run = (ops: Operations, args: RunsArguments, context: CommandContext) => Promise<number>

/** Commands that take one run, or many. */
const byRun = {
  async stop(ops, { run, tenant, operator, reason, json }, context) {
    const isStopping = await ops.stop(run, { tenant, operator, reason })
    const text = isStopping ? 'The run stops at its next step.' : 'The run has ended. There is nothing to stop.'
    return report({ run, stopping: isStopping }, text, { isDone: isStopping, json }, context)
  },
  async 'force-stop'(ops, { run, tenant, operator, reason, json }, context) {
    const isEnded = await ops.forceStop(run, { tenant, operator, reason })
    const text = isEnded
      ? 'The run was ended. A call that it had begun may still have an effect, which is not recorded.'
      : 'The run has ended. There is nothing to stop.'
    return report({ run, ended: isEnded }, text, { isDone: isEnded, json }, context)
  },
  async retry(ops, { run, tenant, operator, reason, json }, context) {
    const result = await ops.retry(run, { tenant, operator, reason })
    const text = result.queued ? 'The run is queued. A process of its version continues it.' : (result.reason ?? '')
    return report({ run, ...result }, text, { isDone: result.queued, json }, context)
  },
  async migrate(ops, { run, tenant, operator, reason, to, isDryRun, json }, context) {
    const result = await ops.migrate(run, { to, dryRun: isDryRun, tenant, operator, reason })
    return report(
      { run, ...result },
      migrationText(result, { to, isDryRun }),
      { isDone: result.fits && (isDryRun || result.moved), json },
      context,
    )
  },
} satisfies Partial<Record<RunsArguments['command'], Run>>

const runs: Readonly<Record<RunsArguments['command'], Run>> = {
  ...byRun,
  async list(ops, { tenant, conditions, page, json }, context) {
    const listed = await ops.list({ ...(tenant !== undefined && { tenant }), ...conditions, ...page })
    return print(listed, listTables(listed, Date.now()), json, context)
  },
  async summary(ops, { tenant, json }, context) {
    const summary = await ops.summary({ tenant })
    return print(summary, summaryTables(summary), json, context)
  },
  async queues(ops, { tenant, json }, context) {
    const queues = await ops.queues({ tenant })
    return print({ queues }, queueTables(queues), json, context)
  },
  async show(ops, { run, tenant, json }, context) {
    const shown = await ops.show(run, { tenant })
    return print(shown, showTables(shown), json, context)
  },
  async 'start-again'(ops, { run, tenant, operator, reason, repeatEffects, json }, context) {
    const started = await ops.startAgain(run, { tenant, operator, reason, repeatEffects })
    const text = started.isNew
      ? `The run ${started.run} was queued with the same request.`
      : `The run was started again before, as ${started.run}.`
    return report(started, text, { isDone: started.isNew, json }, context)
  },
  async deny(ops, { run, tenant, operator = '', reason = '', call, json }, context) {
    const denied = await ops.deny(run, { tenant, operator, reason, callId: call })
    return report(
      denied,
      `The call "${denied.callId}" is denied. The run ${denied.run} continues.`,
      { isDone: true, json },
      context,
    )
  },
  async export(ops, { run, tenant, content, operator = '', reason = '' }, { stdout }) {
    const exported = content ? await ops.export(run, { tenant, operator, reason }) : await ops.show(run, { tenant })
    stdout.write(`${toLine(exported)}\n`)
    return exitCodes.ok
  },
}

function migrationText(
  { fits, moved, reason = '', replayed, recorded }: Awaited<ReturnType<Operations['migrate']>>,
  { to, isDryRun }: { to: string; isDryRun: boolean },
): string {
  if (!fits) return `The run does not fit the version "${to}", and was not changed. ${reason}`
  if (moved) return `The run belongs to the version "${to}". A process of that version continues it.`
  if (isDryRun)
    return `The run fits the version "${to}": ${replayed} of ${recorded} recorded steps were replayed. Nothing was changed.`
  return 'The run fits, but a process is executing it, so it was not moved. Repeat this when the process has ended.'
}
