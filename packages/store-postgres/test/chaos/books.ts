import type { StoredTurn } from '@allium/core'
import type { OutboxRecord } from '@allium/store'
import { type Bill, tokensOf } from './bills.ts'
import { account, type Opened } from './scene.ts'

/** What turns have recorded, and nothing else, once; of a completed one what it paid. */
export async function outboxProblems(store: Opened, turns: readonly StoredTurn[]): Promise<string[]> {
  const sent = await recordsOf(store)
  const said = turns.flatMap(({ turnId, records }) => records.map((record) => ({ ...record, tenant: 'acme', turnId })))
  const problems: string[] = []
  if (told(said) !== told(sent))
    problems.push(`the outbox has ${sent.length} records, and the turns have ${said.length}`)
  for (const { status, idempotencyKey: key, records } of turns) {
    const paid = records.filter(({ topic, data }) => topic === 'paid' && (data as { key: string }).key === key)
    if (status === 'completed' && key !== undefined && paid.length !== 1)
      problems.push(`the turn of ${key} has recorded ${paid.length} times that it paid`)
  }
  return problems
}

function told(records: readonly OutboxRecord[]): string {
  const lines = records.map(({ id, topic, data, turnId, tenant }) => [id, topic, data, turnId, tenant])
  return JSON.stringify(lines.map((line) => JSON.stringify(line)).sort())
}

async function recordsOf({ sessions }: Opened): Promise<OutboxRecord[]> {
  const records: OutboxRecord[] = []
  for (;;) {
    const taken = await sessions.outbox.claim('chaos', 500, 600_000)
    if (taken.length === 0) return records
    records.push(...taken)
  }
}

/**
 * To the token: a call that ended was posted as what it used, one that was cut as its estimate, by who took its session over;
 * nothing is held any more. A turn has used what its calls have, and none was asked for twice.
 *
 * @param away keys of which somebody was told that the server was gone: what could not be posted then, or was held for a call that
 * was not made then, is posted as its estimate later
 */
export async function moneyProblems(
  { ledger }: Opened,
  turns: readonly StoredTurn[],
  bills: readonly Bill[],
  away: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const problems: string[] = []
  const estimates = bills.map(({ estimate }) => estimate)
  const unposted = bills
    .filter(({ key }) => away.has(key))
    .reduce((sum, bill) => sum + bill.estimate - (bill.used ?? 0), 0)
  const perhaps = bills
    .filter(({ isCut }) => isCut === 'perhaps')
    .reduce((sum, bill) => sum + bill.estimate - (bill.used ?? 0), 0)
  const doubtful = perhaps + (away.size === 0 ? 0 : unposted + away.size * Math.max(0, ...estimates))
  const due = bills.reduce((sum, bill) => sum + (bill.isCut === true ? bill.estimate : (bill.used ?? Number.NaN)), 0)
  const { spent, reserved } = await ledger.balance(account)
  if (!(spent >= due && spent <= due + doubtful) || due === 0)
    problems.push(`model calls have cost ${due} tokens, ${doubtful} are in doubt, and ${spent} were spent`)
  if (reserved !== 0) problems.push(`${reserved} tokens are still held`)
  for (const { status, idempotencyKey: key, usage } of turns) {
    const own = bills.filter((bill) => bill.key === key)
    const used = own.reduce((sum, { used = 0 }) => sum + used, 0)
    if (own.length > 2) problems.push(`the key ${key} was billed ${own.length} calls`)
    if (status === 'completed' && key !== undefined && tokensOf(usage) !== used)
      problems.push(`the calls of ${key} have used ${used} tokens, and its turn says ${tokensOf(usage)}`)
  }
  return problems
}
