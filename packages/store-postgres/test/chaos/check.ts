import type { OutboxRecord, SessionKey, StoredTurn } from '@allium/core'
import { historyProblems } from '@allium/testing'
import { account, type Opened } from './scene.ts'

/** What was promised and does not hold, as sentences. */
export async function problemsOf(
  store: Opened,
  { acknowledged, effects }: { acknowledged: readonly string[]; effects: readonly string[] },
): Promise<string[]> {
  const { items } = await store.sessions.list({ tenant: 'acme', limit: 1000 })
  const turns: StoredTurn[] = []
  const problems: string[] = []
  for (const { key } of items) {
    turns.push(...(await turnsOf(store, key)))
    const session = await store.sessions.load(key)
    // A call that waits has no result yet.
    const waits = session?.rest.suspension !== undefined
    for (const problem of waits ? [] : historyProblems(session?.history ?? []))
      problems.push(`${key.sessionId}: ${problem}`)
    if (session?.open !== undefined) problems.push(`${key.sessionId}: the turn ${session.open.turnId} was left open`)
  }
  const byKey = grouped(turns)
  for (const [key, all] of byKey)
    if (key !== undefined && all.length > 1) problems.push(`the key ${key} is ${all.length} turns`)
  for (const key of new Set(acknowledged))
    if (byKey.get(key)?.[0]?.status !== 'completed') problems.push(`the acknowledged turn of ${key} is lost`)
  for (const key of new Set(effects))
    if (effects.filter((one) => one === key).length > 1) problems.push(`the tool of ${key} ran twice`)
  const known = turns.filter(({ status }) => ['completed', 'interrupted', 'suspended'].includes(status))
  if (known.length < turns.length) problems.push(`${turns.length - known.length} turns have ended in another way`)
  return [...problems, ...outboxProblems(await recordsOf(store), turns), ...(await moneyProblems(store, turns))]
}

async function turnsOf({ sessions }: Opened, key: SessionKey): Promise<StoredTurn[]> {
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

async function recordsOf({ sessions }: Opened): Promise<OutboxRecord[]> {
  const records: OutboxRecord[] = []
  for (;;) {
    const taken = await sessions.outbox.take('chaos', 500, 600_000)
    if (taken.length === 0) return records
    records.push(...taken)
  }
}

/** What turns have recorded, and nothing else, once. */
function outboxProblems(records: readonly OutboxRecord[], turns: readonly StoredTurn[]): string[] {
  const said = turns.flatMap(({ records }) => records.map(({ id }) => id)).sort()
  const sent = records.map(({ id }) => id).sort()
  return JSON.stringify(said) === JSON.stringify(sent)
    ? []
    : [`the outbox has ${sent.length} records, and the turns have ${said.length}`]
}

/** What finished turns have used was spent: a turn that is answered is paid. What a killed one held may be spent or held beside. */
async function moneyProblems({ ledger }: Opened, turns: readonly StoredTurn[]): Promise<string[]> {
  const finished = turns.filter(({ status }) => status === 'completed')
  const used = finished.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0)
  const { spent } = await ledger.balance(account)
  return spent >= used && used > 0 ? [] : [`finished turns have used ${used} tokens, and ${spent} were spent`]
}
