import type { SessionUsageView } from '@allium/server/inspect'
import type { Conversation, Tokens } from './sessions.ts'
import { isOfSubAgent, type Turn } from './trace.ts'

/** The usage of a turn or of a session, as a row of the table and a bar of the plot. */
export interface UsageRow {
  name: string
  /** The turn of the row. */
  turnId?: string
  input: number
  output: number
  calls: number
  /** In USD; undefined if it is unknown. */
  cost: number | undefined
  /** The cost leaves out calls with an unknown price. */
  isIncomplete: boolean
}

/** Most rows that are shown. */
const maxRows = 40

/** Returns the last turns of a session, oldest first. */
export function usageByTurn(conversation: Conversation, live: readonly Turn[]): UsageRow[] {
  const byId = new Map(live.map((turn) => [turn.turnId, turn]))
  const costs = costsOf(conversation)
  const rows: { turnId: string; usage: Tokens | undefined; cost: number | undefined }[] = []
  for (const { turnId, usage, status, endedAt } of conversation.turns) {
    const known = byId.get(turnId)
    byId.delete(turnId)
    // The history of a fork begins with a closed turn that ran nothing.
    if (status === 'closed' && usage.calls === 0) continue
    const cost = known !== undefined && known.usd > 0 ? known.usd : costs.get(turnId)
    rows.push({ turnId, usage: endedAt === undefined ? known?.usage : usage, cost })
  }
  for (const turn of byId.values())
    if (!isOfSubAgent(turn))
      rows.push({ turnId: turn.turnId, usage: turn.usage, cost: turn.usd > 0 ? turn.usd : undefined })
  return rows
    .map(({ turnId, usage, cost }, index) => ({ ...rowOf(`Turn ${index + 1}`, usage, cost, false), turnId }))
    .slice(-maxRows)
}

/** Returns the cost of stored turns in USD, by id: the cost of the session after a turn, without its cost before. */
export function costsOf({ turns, before }: Conversation): ReadonlyMap<string, number> {
  // The cost of earlier turns is known only if the first turn is loaded.
  let total = before === undefined ? 0 : undefined
  const costs = new Map<string, number>()
  for (const { turnId, sessionCost } of turns) {
    if (sessionCost !== undefined && total !== undefined) costs.set(turnId, sessionCost - total)
    total = sessionCost ?? total
  }
  return costs
}

/** Returns the sessions that changed last, oldest first. */
export function usageBySession(sessions: readonly SessionUsageView[]): UsageRow[] {
  const known = sessions.slice(0, maxRows).filter(({ tokens }) => tokens !== undefined)
  return known.reverse().map(({ id, tokens, cost, unpriced = 0 }) => rowOf(id, tokens, cost, unpriced > 0))
}

/** Returns the sum of the rows. Its cost is incomplete if that of a row is unknown. */
export function totalOf(rows: readonly UsageRow[]): UsageRow {
  const sum = (field: 'input' | 'output' | 'calls') => rows.reduce((total, row) => total + row[field], 0)
  const priced = rows.filter(({ cost }) => cost !== undefined)
  return {
    name: 'Total',
    input: sum('input'),
    output: sum('output'),
    calls: sum('calls'),
    cost: priced.length === 0 ? undefined : priced.reduce((total, { cost = 0 }) => total + cost, 0),
    isIncomplete: rows.some(({ isIncomplete, cost }) => isIncomplete || cost === undefined),
  }
}

function rowOf(name: string, usage: Tokens | undefined, cost: number | undefined, isIncomplete: boolean): UsageRow {
  const { inputTokens: input = 0, outputTokens: output = 0, calls = 0 } = usage ?? {}
  return { name, input, output, calls, cost, isIncomplete }
}
