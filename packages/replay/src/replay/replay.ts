import { type Agent, AlliumError, isAlliumError, messageOf, type Usable } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { ReadRecordings } from '../recorded/read-recordings.ts'
import { compareTurn } from './compare/compare-turn.ts'
import { ReplayLayer } from './replay-layer.ts'
import type { ReplayedTurn, ReplayMode, ReplayReport } from './replayed-turn.ts'
import { Report } from './report.ts'
import { runTurn } from './run-turn.ts'
import type { TurnToReplay } from './turn-to-replay.ts'

export interface ReplayOptions {
  /** The changed agent. It must not have run yet, because the replay adds a layer to it. Dispose it afterward. */
  readonly agent: Agent<never> | Agent
  /** The recorded turns, for example from `readRecordings()`. */
  readonly recordings: ReadRecordings | Iterable<TurnToReplay> | AsyncIterable<TurnToReplay>
  /** @default 'pinned' */
  readonly mode?: ReplayMode | undefined
  /** The names of layers to leave out: their turn, model and tool hooks only call next(). @default none */
  readonly without?: readonly string[] | undefined
  /** The layers for turns that were recorded with the option `use`, by name. @default such turns are not replayable */
  readonly use?: readonly Usable[] | undefined
  /** The maximum number of turns that the report lists: those that differ or are not replayable. It counts all of them. @default 1_000 */
  readonly maxChanges?: number | undefined
  /** Called after each turn, also for equal ones. */
  onTurn?(turn: ReplayedTurn): void | Promise<void>
  /** Ends the replay after the current turn. */
  readonly signal?: AbortSignal | undefined
}

const known: KeysOf<ReplayOptions> = {
  agent: true,
  recordings: true,
  mode: true,
  without: true,
  use: true,
  maxChanges: true,
  onTurn: true,
  signal: true,
}

/**
 * Runs recorded turns through a changed agent. Models and tools answer from the recording: no model is called, and no tool's code runs.
 * Layers run. Turns run one after the other, each from the session that it began with.
 *
 * @throws AlliumError `options.invalid`; `agent.started` if the agent has run before
 * @example
 * const recordings = readRecordings({ recordings: store.recordings, sessions: store.sessions, agent: 'support' })
 * const { different } = await replay({ agent, recordings })
 */
export async function replay(options: ReplayOptions): Promise<ReplayReport> {
  checkOptions(options, known, 'replay()', 'options.invalid')
  const { recordings, mode = 'pinned', without = [], use = [], maxChanges = 1_000, onTurn, signal } = options
  const agent = options.agent as Agent
  if (mode !== 'pinned' && mode !== 'exact')
    throw new AlliumError('options.invalid', `The option mode takes 'pinned' or 'exact', not ${describe(mode)}.`)
  checkWithout(agent, without)
  const caches = agent.inspect().layers.filter(({ order }) => order.is?.includes('caches'))
  const layer = new ReplayLayer(new Set(without), new Set(caches.map(({ name }) => name)))
  agent.use(layer.layer)
  const report = new Report(mode, maxChanges)
  for await (const turn of recordings) {
    if (signal?.aborted === true) break
    const replayed = await replayTurn({ agent, layer, use }, turn, mode)
    report.add(replayed)
    await onTurn?.(replayed)
  }
  if ('unread' in recordings) report.addUnread(recordings.unread)
  return report.result()
}

function checkWithout(agent: Agent, without: readonly string[]): void {
  const names = agent.inspect().layers.map(({ name }) => name)
  const unknown = without.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new AlliumError(
      'options.invalid',
      `The option without names the layer ${describe(unknown)}, which the agent "${agent.name}" does not have. It has ${names.join(', ')}.`,
    )
}

async function replayTurn(
  host: { readonly agent: Agent; readonly layer: ReplayLayer; readonly use: readonly Usable[] },
  turn: TurnToReplay,
  mode: ReplayMode,
): Promise<ReplayedTurn> {
  const layers = turn.recorded.task.options.use ?? []
  const use = host.use.filter((layer) => layers.includes((layer as { name?: string }).name ?? ''))
  const reason = notReplayable(turn, layers.length === use.length)
  if (reason !== undefined) return unreplayed(turn, reason)
  try {
    return compareTurn(turn, await runTurn({ ...host, use }, turn), mode)
  } catch (error) {
    if (isAlliumError(error, 'options.invalid')) throw error
    return unreplayed(turn, messageOf(error))
  }
}

function notReplayable({ recorded }: TurnToReplay, hasLayers: boolean): string | undefined {
  if (recorded.notReplayable !== undefined) return recorded.notReplayable[0]
  if (recorded.scrubbed === true) return 'its texts were scrubbed'
  return hasLayers ? undefined : 'the layers of its run are needed: pass them as `use`'
}

function unreplayed({ key, turnId, recorded: { startedAt } }: TurnToReplay, reason: string): ReplayedTurn {
  const nothing = { differences: [], requests: [], lanes: [], notes: [] }
  return { key, turnId, startedAt, verdict: 'notReplayable', reason, ...nothing }
}
