import type { StoredTurn } from '@allium/core'
import type { UsageRecord } from '@allium/observe'
import { outboxProblems } from '../../../store-postgres/test/chaos/books.ts'
import { sessionProblems, turnsOf } from '../../../store-postgres/test/chaos/check.ts'
import { auditProblems } from './audits.ts'
import { moneyProblems } from './money.ts'
import type { Noted } from './notes.ts'
import { decidedKey, type Opened, principal } from './scene.ts'

/** What was promised and does not hold, as sentences. */
export async function problemsOf(
  store: Opened,
  notes: readonly Noted[],
  ended: readonly [string, string][],
): Promise<string[]> {
  const problems: string[] = []
  const turns: StoredTurn[] = []
  for (const sessionId of new Set(ended.map(([session]) => session))) {
    const key = { tenant: principal.tenantId, owner: principal.userId, agent: 'desk', sessionId }
    for (const turn of await turnsOf(store, key)) turns.push({ ...turn, idempotencyKey: keyOf(turn, sessionId) })
    problems.push(...(await sessionProblems(store, key)))
  }
  return [
    ...problems,
    ...turnProblems(turns, ended),
    ...stepProblems(notes),
    ...lateProblems(notes),
    ...usageProblems(turns),
    ...(await outboxProblems(store, turns)),
    ...(await auditProblems(store, turns)),
    ...(await moneyProblems(store, notes)),
  ]
}

/** Restate keeps keys itself: there it is told by the turn's id. */
function keyOf({ idempotencyKey, turnId }: StoredTurn, sessionId: string): string {
  return idempotencyKey ?? turnId.slice(sessionId.length + 1)
}

/** Each turn has ended once, and nothing else has. */
function turnProblems(turns: readonly StoredTurn[], ended: readonly [string, string][]): string[] {
  const problems: string[] = []
  const asked = ended.flatMap(([, key]) => [`${key} suspended`, `${decidedKey(key)} completed`]).sort()
  const found = turns.map(({ idempotencyKey, status }) => `${idempotencyKey} ${status}`).sort()
  for (const one of asked)
    if (found.filter((other) => other === one).length !== 1)
      problems.push(`of "${one}" there are ${found.filter((other) => other === one).length} turns`)
  if (found.length !== asked.length) problems.push(`${asked.length} turns have ended, and ${found.length} are stored`)
  return problems
}

/** What was recorded is not done again, but by a process that stood still between asking whether it has the run and doing it. */
function stepProblems(notes: readonly Noted[]): string[] {
  const recorded = new Map<string, number>()
  const stoodStill = new Set(
    notes.flatMap((note) => (note.what === 'stopped' && note.signal === 'SIGSTOP' ? [note.pid] : [])),
  )
  const problems: string[] = []
  for (const note of notes) {
    if (note.what === 'recorded') recorded.set(note.step, note.pid)
    if (note.what !== 'ran' && note.what !== 'asked') continue
    const by = recorded.get(note.step)
    if (by === undefined || (by !== note.pid && stoodStill.has(note.pid))) continue
    const what =
      note.what === 'ran'
        ? `the step ${note.step} was recorded, and run again`
        : `the call of ${note.step} was recorded, and paid again`
    problems.push(what)
  }
  return problems
}

/** Who has lost a session, or a run, writes nothing more: what was begun after another one had taken it was refused. */
function lateProblems(notes: readonly Noted[]): string[] {
  const written = new Set(notes.flatMap((note) => (note.what === 'written' ? [note.write] : [])))
  const tokens = new Map<string, number>()
  const raise = (of: string, token: number) => tokens.set(of, Math.max(tokens.get(of) ?? 0, token))
  const problems: string[] = []
  for (const note of notes) {
    if (note.what === 'taken') for (const of of [note.session, note.run]) raise(of, note.token)
    // The log knows a new owner from its first write, and the store ignores a late report of an end.
    if (note.what === 'written' && note.op === 'tell') raise(`log ${note.run}`, note.token)
    if (note.what !== 'writing' || !written.has(note.write) || note.op === 'told') continue
    // A run that has ended is told while its session goes on.
    const ofSession = note.op === 'append' || note.op === 'checkpoint'
    const of = ofSession ? note.session : note.op === 'tell' ? `log ${note.run}` : note.run
    if (note.token < (tokens.get(of) ?? 0)) problems.push(`a process that had lost ${of} has written: ${note.op}`)
  }
  return problems
}

/** What a run has recorded of its calls is what it has used. */
function usageProblems(turns: readonly StoredTurn[]): string[] {
  return turns.flatMap(({ idempotencyKey, records, usage }) => {
    const calls = records
      .filter(({ topic, data }) => topic === 'usage' && (data as UsageRecord).cut !== true)
      .map(({ data }) => (data as UsageRecord).usage)
    const sum = (of: (one: typeof usage) => number) => calls.reduce((sum, one) => sum + of(one), 0)
    const [tokens, used] = [sum((one) => one.inputTokens + one.outputTokens), usage.inputTokens + usage.outputTokens]
    if (sum((one) => one.calls) === usage.calls && tokens === used) return []
    return [
      `${idempotencyKey} has used ${used} tokens in ${usage.calls} calls, and recorded ${tokens} in ${calls.length}`,
    ]
  })
}

/**
 * From each kill to where another process had the session, in leases. A process that stops while it asks for runs may have got any lost
 * one, without a note: then that one is lost again.
 */
export function takeovers(notes: readonly Noted[], lease: number): number[] {
  const owners = new Map<string, number>()
  const lost = new Map<string, number>()
  const claiming = new Set<number>()
  const waits: number[] = []
  let suspect = 0
  for (const note of notes) {
    if (note.what === 'stopped' && note.signal === 'SIGKILL')
      for (const [session, pid] of owners) if (pid === note.pid) lost.set(session, note.at)
    if (note.what === 'claiming') claiming.add(note.pid)
    if (note.what === 'claimed') claiming.delete(note.pid)
    if (note.what === 'stopped' && claiming.delete(note.pid))
      for (const session of lost.keys()) lost.set(session, note.at)
    if (note.what === 'ended') owners.delete(note.session)
    if (note.what !== 'taken') continue
    const since = lost.get(note.session)
    // Where a process runs what may be to blame for the end of others, it takes nothing beside it for a lease.
    if (note.attempts >= 3) suspect = note.at
    if (since !== undefined && since > suspect + lease) waits.push((note.at - since) / lease)
    lost.delete(note.session)
    owners.set(note.session, note.pid)
  }
  return waits.sort((a, b) => a - b)
}
