import { AlliumError } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { ReadRecordings, ReadTurn } from '../recorded/read-recordings.ts'
import { type BacktestAgent, hooksPassedBy, otherHooks, useLast } from './backtest-agent.ts'
import { BacktestLayer } from './backtest-layer.ts'
import { type BacktestReport, ReportBuilder } from './report.ts'
import { runTurns } from './run-turns.ts'
import type { AgentNow } from './turn-backtest.ts'
import { unchangedLayers } from './unchanged-layers.ts'

export interface BacktestOptions {
  /** The changed agent, or a function that returns it. It must be unused, and is disposed at the end. */
  readonly agent: BacktestAgent | (() => BacktestAgent | Promise<BacktestAgent>)
  /** The recorded turns, from `readRecordings()`. */
  readonly recordings: ReadRecordings | Iterable<ReadTurn> | AsyncIterable<ReadTurn>
  /** The maximum number of changed calls that the report lists. It counts all of them. @default 10_000 */
  readonly maxChanges?: number | undefined
  /** Stops between two turns, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

const known: KeysOf<BacktestOptions> = { agent: true, recordings: true, maxChanges: true, signal: true }

/**
 * Runs the tool calls of recorded turns through the tool layers of a changed agent, and returns the calls that it would have decided
 * otherwise. No model and no tool runs: their answers come from the recordings. The layers' own code runs.
 *
 * Use it for changed policies, limits and approvals: what would this rule have done last month? Each turn starts from the session
 * that it was recorded with. Turn and model layers do not run, so a layer that decides by them needs a replay.
 *
 * @throws AlliumError `options.invalid`; errors of the agent's `init()` and of the stores
 * @example
 * const recordings = readRecordings({ recordings: store.recordings, sessions: store.sessions, agent: 'support' })
 * const report = await backtest({ agent: () => supportAgent(), recordings })
 */
export async function backtest(options: BacktestOptions): Promise<BacktestReport> {
  checkOptions(options, known, 'backtest()', 'options.invalid')
  const { recordings, maxChanges = 10_000, signal } = options
  if (!Number.isSafeInteger(maxChanges) || maxChanges < 0)
    throw new AlliumError(
      'options.invalid',
      `The option maxChanges takes a whole number from 0 on, not ${describe(maxChanges)}.`,
    )
  const agent = typeof options.agent === 'function' ? await options.agent() : options.agent
  const layer = new BacktestLayer()
  useLast(agent, layer)
  const { layers } = agent.inspect()
  layer.passBy(layers)
  const builder = new ReportBuilder(maxChanges)
  const { delegates, passedBy } = layer
  const now: AgentNow = { delegates, passedBy, isUnchanged: unchangedLayers(agent.version, layers) }
  try {
    const judged = await runTurns(recordings, { agent, layer, builder, signal, hooksOf: hooksPassedBy(layers), now })
    for (const turn of judged) if (turn !== undefined) builder.add(turn)
  } finally {
    await agent.dispose()
  }
  const unread = 'unread' in recordings ? recordings.unread : {}
  for (const [reason, count] of Object.entries(unread)) builder.notReplayable.add(reason, count)
  const { name, version } = agent
  const withoutHooks = layers.flatMap((one) => {
    const hooks = otherHooks(one)
    return hooks.length > 0 && !passedBy.has(one.name) ? [{ layer: one.name, hooks }] : []
  })
  return builder.report({ agent: name, version, withoutHooks, passedBy: [...passedBy] })
}
