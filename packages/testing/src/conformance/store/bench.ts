import type { Lease, Message, SessionKey, StoredTurn, Suspension } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { check, Nonconformance } from '../check.ts'
import { show } from '../difference.ts'

/** The test bench of a case. */
export interface StoreBench {
  store: SessionStore
  /** The same data as another process sees it; the store itself if it cannot be opened again. */
  other: SessionStore
  /** The duration of a lease, in milliseconds. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type StoreCases = Readonly<Record<string, (bench: StoreBench) => Promise<void>>>

export const chat: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** Returns a turn with question and answer that begins at `from`. */
export function turnOf(text: string, from = 0, state: Record<string, unknown> = { said: text }): StoredTurn {
  const messages: Message[] = [
    { role: 'user', content: text },
    { role: 'assistant', content: `re: ${text}` },
  ]
  return storedTurn({ turnId: `turn-${text}`, answer: `re: ${text}`, from, messages, rest: { state } })
}

/** Returns a completed turn with the given fields. */
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

/** Returns the same run while it is open. */
export function runningTurn(text: string, from = 0, more: Partial<StoredTurn> = {}): StoredTurn {
  const { endedAt: _, ...turn } = turnOf(text, from)
  return { ...turn, status: 'running', answer: null, ...more }
}

/** Returns a run that waits for decisions on these calls, each with its token. */
export function suspendedTurn(
  text: string,
  waiting: Readonly<Record<string, { token: string; expiresAt?: number }>>,
  from = 0,
): StoredTurn {
  const { turnId, ...turn } = turnOf(text, from)
  const calls: Suspension['calls'] = {}
  for (const [callId, baseTurn] of Object.entries(waiting))
    calls[callId] = { name: `tool-of-${callId}`, turnId, agent: 'a', sent: 'a', args: 'b', schema: 'c', ...baseTurn }
  const suspension = { turnId, rootId: turnId, stepIndex: 1, state: {}, calls }
  return { ...turn, turnId, status: 'suspended', rest: { ...turn.rest, suspension } }
}

/** Returns the time by the store's clock, from the expiry of a held lease. */
export async function nowOf({ store, lease: ms }: StoreBench): Promise<number> {
  const key = { ...chat, sessionId: 'tells the time' }
  const lease = await acquireLease(store, key, ms * 100)
  const { heldUntil } = await store.acquire(key, ms)
  check(Number.isFinite(heldUntil), `acquire() of a locked session reports heldUntil, but reported ${show(heldUntil)}`)
  await store.release(lease)
  return Math.round(heldUntil as number) - ms * 100
}

/** Acquires a free session. */
export async function acquireLease(store: SessionStore, key: SessionKey, ms: number): Promise<Lease> {
  const { lease } = await store.acquire(key, ms)
  check(lease !== undefined, `acquire() returns a lease of a free session (${JSON.stringify(key)})`)
  return lease
}

/** Whether a session is leased. Also checks that a refusal has an expiry time. */
export async function isHeld(store: SessionStore, key: SessionKey, ms: number): Promise<boolean> {
  const { lease, heldUntil } = await store.acquire(key, ms)
  check(
    lease !== undefined || Number.isFinite(heldUntil),
    `acquire() of a locked session reports heldUntil in milliseconds, but reported ${show(heldUntil)}`,
  )
  return lease === undefined
}

/** Acquires the session for long enough, appends the turns one after the other, and releases it. */
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

/** Returns the texts of a session's messages. */
export async function textsIn(store: SessionStore, key: SessionKey): Promise<unknown[]> {
  return ((await store.load(key))?.history ?? []).map(({ content }) => content)
}
