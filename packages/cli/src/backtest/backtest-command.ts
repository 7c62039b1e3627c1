import type { BacktestReport } from '@allium/replay/backtest'
import type { Agent, AgentStore } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, interrupted, UsageError } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'
import { agentOfModule } from '../runs/agent-of-module.ts'
import { openRunStore } from '../runs/open-run-store.ts'
import { print } from '../runs/report.ts'
import { type BacktestArguments, backtestArguments, backtestHelp } from './backtest-arguments.ts'
import { backtestTables } from './backtest-tables.ts'

/** `allium backtest src/agent.ts --store chats.db --since 30d`. @throws UsageError */
export async function backtestCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const args = backtestArguments(argv, Date.now())
  if (args === undefined) {
    context.stdout.write(backtestHelp)
    return exitCodes.ok
  }
  const stop = new AbortController()
  const onInterrupt = () => stop.abort(interrupted)
  context.on('SIGINT', onInterrupt)
  try {
    const report = await run(args, context, stop.signal)
    const { isPassed, verdict } = verdictOf(report, args.maxNewDenials)
    print({ type: 'backtest', ...report }, [...backtestTables(report), ...verdict], args.json, context)
    return isPassed ? exitCodes.ok : exitCodes.failed
  } catch (error) {
    if (error !== interrupted) throw error
    return exitCodes.aborted
  } finally {
    context.off('SIGINT', onInterrupt)
  }
}

async function run(args: BacktestArguments, context: CommandContext, signal: AbortSignal): Promise<BacktestReport> {
  const load = () => Promise.all([import('@allium/replay/backtest'), import('@allium/replay/recorded')])
  const [{ backtest }, { readRecordings }] = await importOptional('@allium/replay', load)
  const { tenant, since, until, limit } = args
  const loaded = await agentOfModule(args.module, args.exportName, context.cwd())
  const agent = loaded.agent as unknown as Agent
  const store: Partial<Pick<AgentStore, 'recordings' | 'sessions'>> & { close(): unknown } = await openRunStore(
    args.store,
    context,
    loaded.store,
  )
  try {
    const { recordings, sessions } = store
    if (recordings === undefined) throw new UsageError('The store has no recordings.')
    const query = { agent: args.agent ?? agent.sessionNames[0] ?? agent.name, tenant, since, until, limit }
    return await backtest({ agent, recordings: readRecordings({ recordings, sessions, ...query }), signal })
  } finally {
    await store.close()
  }
}

/** A limit that nothing was measured against is not kept. */
function verdictOf({ calls: { judged, newlyDenied } }: BacktestReport, limit: number | undefined) {
  if (limit === undefined) return { isPassed: true, verdict: [] }
  if (judged === 0) return { isPassed: false, verdict: [[['Failed: no call could be judged.']]] }
  const isPassed = newlyDenied <= limit
  const words = `${isPassed ? 'Passed' : 'Failed'}: ${newlyDenied} newly denied, at most ${limit} allowed.`
  return { isPassed, verdict: [[[words]]] }
}
