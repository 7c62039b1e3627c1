import type { Operations } from '@allium/durable/operations'
import { isAlliumError } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'
import { toLine } from '../print-run.ts'
import { openRunStore } from './open-run-store.ts'
import { listTables, showTables, summaryTables } from './run-tables.ts'
import { type RunsArguments, runsArguments, runsHelp } from './runs-arguments.ts'
import { type Table, toText } from './table.ts'

/** `allium runs list --status failed`: shows and moves the durable runs of a store. @throws UsageError */
export async function runsCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  if (argv.length === 0 || argv.includes('--help')) {
    context.stdout.write(runsHelp)
    return exitCodes.ok
  }
  const args = runsArguments(argv)
  const { operations } = await importOptional('@allium/durable', () => import('@allium/durable/operations'))
  const store = await openRunStore(args.store, context)
  try {
    return await runs[args.command](operations({ store }), args, context)
  } catch (error) {
    if (isAlliumError(error, 'run.options') || isAlliumError(error, 'store.key')) throw new UsageError(error.message)
    throw error
  } finally {
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
  async export(ops, { run, tenant, content, operator = '', reason = '' }, { stdout }) {
    const exported = content ? await ops.export(run, { tenant, operator, reason }) : await ops.show(run, { tenant })
    stdout.write(`${toLine(exported)}\n`)
    return exitCodes.ok
  },
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
