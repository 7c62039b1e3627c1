import type { ReadTurn } from '@allium/replay/recorded'
import type { ReplayedTurn, ReplayReport } from '@allium/replay/replay'
import type { Agent, AgentStore } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, interrupted, UsageError } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'
import { agentOfModule } from '../runs/agent-of-module.ts'
import { openRunStore } from '../runs/open-run-store.ts'
import { print } from '../runs/report.ts'
import { type ReplayArguments, replayArguments, replayHelp } from './replay-arguments.ts'
import { lanesTables, summaryTables } from './replay-tables.ts'

/** `allium replay src/agent.ts --store chats.db --since 7d`. @throws UsageError */
export async function replayCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const args = replayArguments(argv, Date.now())
  if (args === undefined) {
    context.stdout.write(replayHelp)
    return exitCodes.ok
  }
  const stop = new AbortController()
  const onInterrupt = () => stop.abort(interrupted)
  context.on('SIGINT', onInterrupt)
  try {
    const { report, unread, single } = await run(args, context, stop.signal)
    const tables = single === undefined ? summaryTables(report, unread) : lanesTables(single)
    print({ type: 'replay', ...report, unread, ...(single && { turn: single }) }, tables, args.json, context)
    if (stop.signal.aborted) return exitCodes.aborted
    const { maxDifferences = 0 } = args
    return report.replayed > 0 && report.different <= maxDifferences ? exitCodes.ok : exitCodes.failed
  } finally {
    context.off('SIGINT', onInterrupt)
  }
}

interface Ran {
  readonly report: ReplayReport
  /** Recordings that could not be read, by reason. */
  readonly unread: Readonly<Record<string, number>>
  /** The turn of `--turn`. */
  readonly single: ReplayedTurn | undefined
}

async function run(args: ReplayArguments, context: CommandContext, signal: AbortSignal): Promise<Ran> {
  const load = () => Promise.all([import('@allium/replay/replay'), import('@allium/replay/recorded')])
  const [{ replay }, { readRecordings }] = await importOptional('@allium/replay', load)
  const { tenant, since, until, mode, without } = args
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
    const query = { agent: args.agent ?? agent.sessionNames[0] ?? agent.name, tenant, since, until }
    const read = readRecordings({ recordings, sessions, ...query })
    let single: ReplayedTurn | undefined
    const onTurn = (turn: ReplayedTurn) => void (single = turn)
    const report = await replay({ agent, recordings: selected(read, args), mode, without, signal, onTurn })
    if (args.turn !== undefined && single === undefined)
      throw new UsageError(`The store has no recording of the turn "${args.turn}" of the agent "${query.agent}".`)
    return { report, unread: read.unread, single: args.turn === undefined ? undefined : single }
  } finally {
    await agent.dispose()
    await store.close()
  }
}

async function* selected(
  turns: AsyncIterable<ReadTurn>,
  { turn, session }: Pick<ReplayArguments, 'turn' | 'session'>,
): AsyncGenerator<ReadTurn> {
  for await (const one of turns)
    if ((turn === undefined || one.turnId === turn) && (session === undefined || one.key.sessionId === session))
      yield one
}
