import { isAlliumError, messageOf, type SessionOptions } from '@allium/core'
import type { ReadTurn } from '../recorded/read-recordings.ts'
import type { BacktestAgent } from './backtest-agent.ts'
import type { BacktestLayer } from './backtest-layer.ts'
import { type JudgedTurn, judgeTurn } from './judge-turn.ts'
import type { ReportBuilder } from './report.ts'
import { type AgentNow, TurnBacktest } from './turn-backtest.ts'

/** Turns that run at once: a layer may wait, such as between two attempts of a tool. */
const concurrency = 8

/** What the runs of a backtest share. */
interface Backtest {
  readonly agent: BacktestAgent
  readonly layer: BacktestLayer
  readonly builder: ReportBuilder
  readonly signal: AbortSignal | undefined
  readonly hooksOf: (layer: string | undefined) => readonly string[]
  readonly now: AgentNow
}

/** Runs the turns, several at once. Returns their results in order; undefined for a turn that could not run. */
export async function runTurns(
  turns: Iterable<ReadTurn> | AsyncIterable<ReadTurn>,
  to: Backtest,
): Promise<(JudgedTurn | undefined)[]> {
  const judged: (JudgedTurn | undefined)[] = []
  const running = new Map<string, Promise<void>>()
  let failed: { error: unknown } | undefined
  let count = 0
  for await (const turn of turns) {
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

async function runOne(
  read: ReadTurn,
  { agent, layer, builder, hooksOf, now }: Backtest,
): Promise<JudgedTurn | undefined> {
  const { recorded, before, turnId } = read
  const turn = new TurnBacktest(read, now)
  const remove = layer.add(turn)
  try {
    const { task, principal, context } = recorded
    const session = agent.session({ principal, context } as SessionOptions)
    try {
      session.restore(before)
      const { maxSteps, clientTools } = task.options
      const { clock, journal } = turn
      const options = { turnId, clock, journal, maxSteps, clientTools }
      const { toolCalls } = await (task.decisions === undefined
        ? session.run(task.input as string, options)
        : session.resume(task.decisions as never, options))
      turn.ended(toolCalls)
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
