import type { SessionKey, StoredTurn } from '@allium/core'
import { historyProblems } from '@allium/testing'
import type { Bill } from './bills.ts'
import { moneyProblems, outboxProblems } from './books.ts'
import type { Opened } from './scene.ts'

/** What processes have noted beside the store. */
export interface Noted {
  /** Keys of turns that clients were told of. */
  readonly acknowledged: readonly string[]
  /** The key of each tool that ran. */
  readonly effects: readonly string[]
  readonly bills: readonly Bill[]
  /** Whether its server was away now and then: turns may have failed for that. */
  readonly wasAway: boolean
  /** Keys of which somebody was told so. */
  readonly away: ReadonlySet<string>
}

/** What was promised and does not hold, as sentences. */
export async function problemsOf(store: Opened, noted: Noted): Promise<string[]> {
  const { items } = await store.sessions.list({ tenant: 'acme', limit: 1000 })
  const turns: StoredTurn[] = []
  const problems: string[] = []
  for (const { key } of items) {
    turns.push(...(await turnsOf(store, key)))
    problems.push(...(await sessionProblems(store, key)))
  }
  const known = turns.filter(
    ({ status, code }) =>
      ['completed', 'interrupted', 'suspended'].includes(status) ||
      (noted.wasAway && status === 'failed' && code === 'store.unavailable'),
  )
  if (known.length < turns.length) problems.push(`${turns.length - known.length} turns have ended in another way`)
  return [
    ...problems,
    ...keyProblems(turns, noted),
    ...(await outboxProblems(store, turns)),
    ...(await moneyProblems(store, turns, noted.bills, noted.away)),
  ]
}

export async function sessionProblems({ sessions }: Opened, key: SessionKey): Promise<string[]> {
  const session = await sessions.load(key)
  // A call that waits has no result yet.
  const waits = session?.rest.suspension !== undefined
  const problems = waits ? [] : historyProblems(session?.history ?? [])
  if (session?.open !== undefined) problems.push(`the turn ${session.open.turnId} was left open`)
  return problems.map((problem) => `${key.sessionId}: ${problem}`)
}

/** A key is one turn and one effect, and what was acknowledged stays. */
function keyProblems(turns: readonly StoredTurn[], { acknowledged, effects }: Noted): string[] {
  const problems: string[] = []
  const byKey = grouped(turns)
  for (const [key, all] of byKey)
    if (key !== undefined && all.length > 1) problems.push(`the key ${key} is ${all.length} turns`)
  for (const key of new Set(acknowledged))
    if (byKey.get(key)?.[0]?.status !== 'completed') problems.push(`the acknowledged turn of ${key} is lost`)
  for (const key of new Set(effects))
    if (effects.filter((one) => one === key).length > 1) problems.push(`the tool of ${key} ran twice`)
  for (const { status, reason, code, turnId } of turns)
    if (status === 'interrupted' && code !== 'run.interrupted')
      problems.push(`the cut turn ${turnId} is not marked: ${code} ${reason}`)
  return problems
}

export async function turnsOf({ sessions }: Opened, key: SessionKey): Promise<StoredTurn[]> {
  const turns: StoredTurn[] = []
  for (let version = 1; ; version++) {
    const turn = await sessions.find(key, { version })
    if (turn === undefined) return turns
    turns.push(turn)
  }
}

function grouped(turns: readonly StoredTurn[]): Map<string | undefined, StoredTurn[]> {
  const groups = new Map<string | undefined, StoredTurn[]>()
  for (const turn of turns) groups.set(turn.idempotencyKey, [...(groups.get(turn.idempotencyKey) ?? []), turn])
  return groups
}
