import type { Lease, Message, SessionKey, SessionStore, StoredTurn, Suspension } from '@allium/core'
import { check, Nonconformance } from '../check.ts'
import { show } from '../difference.ts'

/** What a case works with. */
export interface StoreBench {
  store: SessionStore
  /** The same data as another process has them; the store itself where there is no way to open them again. */
  other: SessionStore
  /** Milliseconds of a lease. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by their names. */
export type StoreCases = Readonly<Record<string, (bench: StoreBench) => Promise<void>>>

export const chat: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** A turn of question and answer that begins at `from`. */
export function turnOf(text: string, from = 0, state: Record<string, unknown> = { said: text }): StoredTurn {
  const messages: Message[] = [
    { role: 'user', content: text },
    { role: 'assistant', content: `re: ${text}` },
  ]
  return storedTurn({ turnId: `turn-${text}`, answer: `re: ${text}`, from, messages, rest: { state } })
}

/** A turn that was completed, with what a case says. */
export function storedTurn(turn: Pick<StoredTurn, 'turnId' | 'messages' | 'rest'> & Partial<StoredTurn>): StoredTurn {
  const usage = { inputTokens: 0, outputTokens: 0, calls: 0 }
  const { turnId } = turn
  const baseTurn = {
    rootId: turnId,
    agent: 'agent',
    status: 'completed',
    startedAt: 1000,
    endedAt: 2000,
    from: 0,
  } as const
  return { ...baseTurn, usage, answer: null, records: [], ...turn }
}

/** The same run while it goes on. */
export function runningTurn(text: string, from = 0, more: Partial<StoredTurn> = {}): StoredTurn {
  const { endedAt: _, ...turn } = turnOf(text, from)
  return { ...turn, status: 'running', answer: null, ...more }
}

/** A run that waits for decisions on these calls, each with its token. */
export function suspendedTurn(
  text: string,
  waiting: Readonly<Record<string, { token: string; expiresAt?: number }>>,
  from = 0,
): StoredTurn {
  const { turnId, ...turn } = turnOf(text, from)
  const calls: Suspension['calls'] = {}
  for (const [callId, baseTurn] of Object.entries(waiting))
    calls[callId] = { name: `tool-of-${callId}`, turnId, sent: 'a', args: 'b', schema: 'c', ...baseTurn }
  const suspension = { turnId, rootId: turnId, stepIndex: 1, state: {}, calls }
  return { ...turn, turnId, status: 'suspended', rest: { ...turn.rest, suspension } }
}

/** The time by the store's clock, as who finds a session taken is told about it. */
export async function nowOf({ store, lease: ms }: StoreBench): Promise<number> {
  const key = { ...chat, sessionId: 'tells the time' }
  const lease = await acquireLease(store, key, ms * 100)
  const { heldUntil } = await store.acquire(key, ms)
  check(
    Number.isFinite(heldUntil),
    `acquire() of a session that is taken tells until when, but told ${show(heldUntil)}`,
  )
  await store.release(lease)
  return Math.round(heldUntil as number) - ms * 100
}

/** Takes a session that nobody has. */
export async function acquireLease(store: SessionStore, key: SessionKey, ms: number): Promise<Lease> {
  const { lease } = await store.acquire(key, ms)
  check(lease !== undefined, `acquire() gives a lease of a session that nobody has (${JSON.stringify(key)})`)
  return lease
}

/** Whether somebody has a session, who is told until when. */
export async function isHeld(store: SessionStore, key: SessionKey, ms: number): Promise<boolean> {
  const { lease, heldUntil } = await store.acquire(key, ms)
  check(
    lease !== undefined || Number.isFinite(heldUntil),
    `acquire() of a session that is taken tells until when, in milliseconds, but told ${show(heldUntil)}`,
  )
  return lease === undefined
}

/** Takes the session for as long as many turns may need, appends them one after the other, and gives it free. */
export async function add({ store, lease: ms }: StoreBench, key: SessionKey, ...turns: StoredTurn[]): Promise<void> {
  const lease = await acquireLease(store, key, ms * 100)
  let { version } = lease
  try {
    for (const turn of turns) await store.append(lease, version++, turn)
    await store.release(lease)
  } catch (error) {
    throw new Nonconformance(`An ordinary turn of ${JSON.stringify(key)} was refused: ${show(error)}.`, {
      cause: error,
    })
  }
}

/** The texts of a session's messages. */
export async function textsIn(store: SessionStore, key: SessionKey): Promise<unknown[]> {
  return ((await store.load(key))?.history ?? []).map(({ content }) => content)
}
