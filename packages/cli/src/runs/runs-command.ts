import type { Operations } from '@allium/durable/operations'
import { isAlliumError } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'
import { toLine } from '../print-run.ts'
import { visible } from '../printable.ts'
import { agentOfModule } from './agent-of-module.ts'
import { openRunStore } from './open-run-store.ts'
import { listTables, showTables, summaryTables } from './run-tables.ts'
import { type RunsArguments, runsArguments, runsHelp } from './runs-arguments.ts'
import { type Table, toText } from './table.ts'

/** Error codes of mistakes in the command. */
const mistakes = ['run.options', 'run.version', 'agent.options', 'store.key']

/** `allium runs list --status failed`: shows and moves the durable runs of a store. @throws UsageError */
export async function runsCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  if (argv.length === 0 || argv.includes('--help')) {
    context.stdout.write(runsHelp)
    return exitCodes.ok
  }
  const args = runsArguments(argv)
  const { operations } = await importOptional('@allium/durable', () => import('@allium/durable/operations'))
  const { module, exportName } = args.migration ?? {}
  const code = module === undefined ? undefined : await agentOfModule(module, exportName, context.cwd())
  const store = await openRunStore(args.store, context, code?.store)
  const agents = code === undefined ? {} : { agents: [code.agent], resolvePrincipal: code.resolvePrincipal }
  try {
    return await runs[args.command](operations({ store, ...agents }), args, context)
  } catch (error) {
    if (isAlliumError(error) && mistakes.includes(error.code)) throw new UsageError(error.message)
    throw error
  } finally {
    await code?.agent.dispose()
    await store.close()
  }
}

type Run = (ops: Operations, args: RunsArguments, context: CommandContext) => Promise<number>

const runs: Readonly<Record<RunsArguments['command'], Run>> = {
  async list(ops, { list, json }, context) {
    const page = await ops.list(list)
    return print(page, listTables(page, Date.now()), json, context)
  },
  async summary(ops, { tenant, json }, context) {
    const summary = await ops.summary({ tenant })
    return print(summary, summaryTables(summary), json, context)
  },
  async show(ops, { run, tenant, json }, context) {
    const shown = await ops.show(run, { tenant })
    return print(shown, showTables(shown), json, context)
  },
  async stop(ops, { run, tenant, operator, reason, json }, context) {
    const isStopping = await ops.stop(run, { tenant, operator, reason })
    const text = isStopping ? 'The run stops at its next step.' : 'The run has ended. There is nothing to stop.'
    return report({ run, stopping: isStopping }, text, { isDone: isStopping, json }, context)
  },
  async retry(ops, { run, tenant, operator, reason, json }, context) {
    const isQueued = await ops.retry(run, { tenant, operator, reason })
    const text = isQueued
      ? 'The run is queued. A process of its version continues it.'
      : 'The run did not fail, or its session has changed since. It cannot be retried.'
    return report({ run, queued: isQueued }, text, { isDone: isQueued, json }, context)
  },
  async migrate(ops, { run, tenant, operator, reason, migration, json }, context) {
    const { to = '', check = false } = migration ?? {}
    const result = await ops.migrate(run, { to, check, tenant, operator, reason })
    return report(
      { run, ...result },
      migrationText(result, { to, check }),
      { isDone: result.fits && (check || result.moved), json },
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
  { to, check }: { to: string; check: boolean },
): string {
  if (!fits) return visible(`The run does not fit the version "${to}", and was not changed. ${reason}`)
  if (moved) return `The run belongs to the version "${to}". A process of that version continues it.`
  if (check)
    return `The run fits the version "${to}": ${replayed} of ${recorded} recorded steps were replayed. Nothing was changed.`
  return 'The run fits, but a process is executing it, so it was not moved. Repeat this when the process has ended.'
}

function print(value: object, tables: readonly Table[], json: boolean, { stdout }: CommandContext): number {
  stdout.write(json ? `${toLine(value)}\n` : tables.map(toText).join('\n'))
  return exitCodes.ok
}

function report(
  value: object,
  text: string,
  { isDone, json }: { isDone: boolean; json: boolean },
  { stdout }: CommandContext,
): number {
  stdout.write(json ? `${toLine(value)}\n` : `${text}\n`)
  return isDone ? exitCodes.ok : exitCodes.failed
}
