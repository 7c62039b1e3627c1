import {
  type Agent,
  AlliumError,
  type InspectedLayer,
  isAlliumError,
  messageOf,
  type SessionOptions,
  type Usable,
} from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { ReadRecordings, ReadTurn } from '../recorded/read-recordings.ts'
import { BacktestLayer } from './backtest-layer.ts'
import { type JudgedTurn, judgeTurn } from './judge-turn.ts'
import { type BacktestReport, ReportBuilder } from './report.ts'
import { TurnBacktest } from './turn-backtest.ts'

/** The agent of a backtest. */
export type BacktestAgent = Pick<Agent, 'name' | 'version' | 'inspect' | 'session' | 'dispose'> & {
  use(layer: Usable): unknown
}

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

/** Turns that run at once: a layer may wait, such as between two attempts of a tool. */
const concurrency = 8

/**
 * Runs the tool calls of recorded turns through the tool layers of a changed agent, and returns the calls that it would have decided
 * otherwise. No model and no tool runs: their answers come from the recordings. The layers' own code runs.
 *
 * Use it for changed policies, limits and approvals: what would this rule have done last month? Each turn starts from the session
 * that it was recorded with. Turn and model layers do not run, so a layer that decides by them needs a replay.
 *
 * @throws AlliumError `options.invalid`; errors of the agent's `init()` and of the stores
 * @example
 * const recordings = readRecordings({ recordings: store.recordings, sessions: store, agent: 'support' })
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
  try {
    const judged = await runAll(recordings, { agent, layer, builder, signal, hooksOf: hooksPassedBy(layers) })
    for (const turn of judged) if (turn !== undefined) builder.add(turn)
  } finally {
    await agent.dispose()
  }
  const unread = 'unread' in recordings ? recordings.unread : {}
  for (const [reason, count] of Object.entries(unread)) builder.notReplayable.add(reason, count)
  const { name, version } = agent
  const withoutHooks = layers.flatMap((one) => {
    const hooks = otherHooks(one)
    return hooks.length > 0 && !layer.passedBy.has(one.name) ? [{ layer: one.name, hooks }] : []
  })
  return builder.report({ agent: name, version, withoutHooks, passedBy: [...layer.passedBy] })
}

function useLast(agent: BacktestAgent, layer: BacktestLayer): void {
  try {
    agent.use(layer)
  } catch (cause) {
    if (!isAlliumError(cause, 'agent.started')) throw cause
    throw new AlliumError(
      'options.invalid',
      `The agent "${agent.name}" has run already, and a backtest has to add a layer. Pass a new agent, or a function that returns one.`,
      { cause },
    )
  }
}

/** Returns the hooks of a layer that a backtest does not run, if it has a tool hook. */
function otherHooks({ name, scopes }: InspectedLayer): string[] {
  if (name === 'replay:backtest' || !scopes.includes('tool')) return []
  return scopes.filter((scope) => scope === 'turn' || scope === 'model')
}

function hooksPassedBy(layers: readonly InspectedLayer[]) {
  const byName = new Map(layers.map((layer) => [layer.name, otherHooks(layer)]))
  return (layer: string | undefined): readonly string[] => (layer === undefined ? [] : (byName.get(layer) ?? []))
}

interface Backtest {
  readonly agent: BacktestAgent
  readonly layer: BacktestLayer
  readonly builder: ReportBuilder
  readonly signal: AbortSignal | undefined
  readonly hooksOf: (layer: string | undefined) => readonly string[]
}

/** Runs the turns, several at once. Returns their results in order. */
async function runAll(recordings: BacktestOptions['recordings'], to: Backtest): Promise<(JudgedTurn | undefined)[]> {
  const judged: (JudgedTurn | undefined)[] = []
  const running = new Map<string, Promise<void>>()
  let failed: { error: unknown } | undefined
  let count = 0
  for await (const turn of recordings) {
    to.signal?.throwIfAborted()
    const reason = reasonAgainst(turn)
    if (reason !== undefined) {
      to.builder.notReplayable.add(reason)
      continue
    }
    const { turnId } = turn
    // Clients choose the ids of turns, so two tenants may use the same one.
    while (running.size >= concurrency || [...running.keys()].some((other) => overlaps(other, turnId)))
      await Promise.race(running.values())
    if (failed !== undefined) break
    const at = count++
    const run = runOne(turn, to)
      .then((result) => void (judged[at] = result))
      .catch((error) => void (failed = { error }))
      .finally(() => running.delete(turnId))
    running.set(turnId, run)
  }
  await Promise.all(running.values())
  if (failed !== undefined) throw failed.error
  return judged
}

/** The id of a sub-agent's turn begins with that of its caller's turn. */
function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
}

/** Reasons of a recording that a backtest does not mind. */
const harmless = [/^the schema of output/]

function reasonAgainst({ recorded: { notReplayable = [], task } }: ReadTurn): string | undefined {
  if (task.options.use !== undefined && task.options.use.length > 0) return 'the run had layers of its own'
  return notReplayable.find((reason) => !harmless.some((pattern) => pattern.test(reason)))
}

async function runOne(read: ReadTurn, { agent, layer, builder, hooksOf }: Backtest): Promise<JudgedTurn | undefined> {
  const { recorded, before, turnId } = read
  const turn = new TurnBacktest(read, agent.version, layer.delegates)
  const remove = layer.add(turn)
  try {
    const { task, principal, context } = recorded
    const session = agent.session({ principal, context } as SessionOptions)
    try {
      session.restore(before)
      const { maxSteps, clientTools } = task.options
      const { clock, journal } = turn
      const options = { turnId, clock, journal, maxSteps, clientTools }
      await (task.decisions === undefined
        ? session.run(task.input as string, options)
        : session.resume(task.decisions as never, options))
    } finally {
      await session.close()
    }
  } catch (error) {
    if (isOfAgent(error)) throw error
    if (turn.calls.size === 0) {
      builder.notReplayable.add(`the run failed with ${codeOf(error)}`)
      return undefined
    }
    if (turn.cut === undefined) turn.diverge(`the run failed with ${codeOf(error)}`)
  } finally {
    remove()
  }
  return judgeTurn(read, turn, hooksOf)
}

/** Whether no turn of this agent could run. */
function isOfAgent(error: unknown): boolean {
  return isAlliumError(error) && /^(options|agent|layer\.(config|order|duplicate)|tool\.)/.test(error.code)
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : messageOf(error)
}
