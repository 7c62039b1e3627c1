import type { Clock, Lease, SessionKey, StoredTurn } from '@allium/core'
import { checkpointMissing, fenced, heldByOtherAgent, turnConflict, turnIdTaken } from '../conflicts.ts'
import { continuedTurn } from '../continued-turn.ts'
import type { PassageTurn } from '../passage-store.ts'
import type { MemoryPassage } from '../passages/memory-passage.ts'
import type { Acquired, Checkpoint, Page, SessionStore, SessionSummary, StoredPendingCall } from '../session-store.ts'
import { checkOwner, checkStoreName } from '../store-name.ts'
import { checkTurn } from '../stored-turn.ts'
import { ownCopy } from './copy.ts'
import type { MemoryOutbox } from './memory-outbox.ts'
import { MemorySession, sameTurn } from './memory-session.ts'
import type { pageOf } from './page.ts'

type ListQuery = Parameters<SessionStore['list']>[0]
type ListScope = Pick<ListQuery, 'tenant' | 'owner' | 'agents'>

interface PendingCall {
  readonly session: MemorySession
  readonly call: StoredPendingCall
}

/** The sessions of the memory store, and who holds them. */
export class MemorySessions {
  readonly #clock: Clock
  readonly #outbox: MemoryOutbox
  readonly #sessions = new Map<string, MemorySession>()
  #lastToken = 0

  constructor(clock: Clock, outbox: MemoryOutbox) {
    this.#clock = clock
    this.#outbox = outbox
  }

  find(key: SessionKey): MemorySession | undefined {
    return this.#get(checkKey(key))
  }

  acquire(key: SessionKey, ms: number): Acquired {
    const session = this.#get(checkKey(key)) ?? new MemorySession(ownCopy(key))
    this.#sessions.set(nameOf(key), session)
    const left = session.until - this.#clock.monotonic()
    if (left > 0) return { heldUntil: this.#clock.now() + left }
    session.token = ++this.#lastToken
    session.until = this.#clock.monotonic() + ms
    const { token, version, open } = session
    return { lease: { key: { ...session.key }, token, version, ...(open !== undefined && { open: true }) } }
  }

  renew({ key, token }: Lease, ms: number): boolean {
    const session = this.#get(key)
    if (session === undefined || session.token !== token || session.until === 0) return false
    session.until = this.#clock.monotonic() + ms
    return true
  }

  release({ key, token }: Lease): void {
    const session = this.#get(key)
    if (session?.token === token) session.until = 0
  }

  checkpoint(lease: Lease, version: number, turn: Checkpoint): void {
    const copy = ownCopy(checkTurn(turn))
    const session = this.#writable(lease, version, copy)
    const open = continuedTurn(session.open, copy)
    if (open === undefined) throw checkpointMissing(lease.key, turn.turnId)
    session.open = open
    session.updatedAt = this.#clock.now()
  }

  /** @param added the passages that the turn adds to its session */
  append(lease: Lease, version: number, turn: PassageTurn, added: readonly MemoryPassage[] = []): void {
    const { passages: _, ...copy } = ownCopy(checkTurn(turn))
    const stored = this.#get(lease.key)?.turns.find(({ turnId }) => turnId === turn.turnId)
    if (stored !== undefined && sameTurn(stored, copy)) return
    const session = this.#writable(lease, version, copy)
    session.turns.push(copy)
    session.passages = [...session.passages.filter(({ index }) => index < copy.from), ...added]
    session.open = undefined
    session.updatedAt = this.#clock.now()
    this.#outbox.add(lease.key, copy)
  }

  list({ cursor, limit, ...scope }: ListQuery, toPage: typeof pageOf): Page<SessionSummary> {
    const summaries = this.in(checkOwner(scope)).flatMap((session) => session.summary() ?? [])
    return toPage(summaries, (one) => [-one.updatedAt, nameOf(one.key)], { cursor, limit })
  }

  pendingCalls({ cursor, limit, ...scope }: ListQuery, toPage: typeof pageOf): Page<StoredPendingCall> {
    const { items, ...rest } = toPage(this.#pendingCalls(scope), rankOf, { cursor, limit })
    return { items: items.map(({ call }) => call), ...rest }
  }

  findPendingCall({ token, ...scope }: ListScope & { token: string }): StoredPendingCall | undefined {
    const found = this.#pendingCalls(scope).find(
      ({ session, call }) => session.last?.rest.suspension?.calls[call.callId]?.token === token,
    )
    return found?.call
  }

  /** Returns the key that the session had. */
  rename(key: SessionKey, names: readonly string[], lease: Lease | undefined): SessionKey | undefined {
    const existing = this.find(key)
    if (existing !== undefined && (!existing.isEmpty || this.#isHeld(existing))) return undefined
    const from = names
      .filter((agent) => agent !== key.agent)
      .flatMap((agent) => this.#get({ ...key, agent }) ?? [])
      .find((session) => !session.isEmpty || session.token === lease?.token)
    if (from === undefined) return undefined
    if (this.#isHeld(from) && from.token !== lease?.token)
      throw heldByOtherAgent(key, this.#clock.now() + from.until - this.#clock.monotonic())
    const formerKey = from.key
    this.#sessions.delete(nameOf(formerKey))
    from.key = ownCopy(key)
    this.#sessions.set(nameOf(key), from)
    return formerKey
  }

  delete(key: SessionKey): void {
    this.#sessions.delete(nameOf(checkKey(key)))
  }

  erase(scope: ListScope): MemorySession[] {
    return this.#forget(this.in(scope))
  }

  expire(olderThan: number): MemorySession[] {
    const before = this.#clock.now() - olderThan
    return this.#forget([...this.#sessions.values()].filter((one) => one.updatedAt < before && !this.#isNeeded(one)))
  }

  in({ tenant, owner, agents }: ListScope): MemorySession[] {
    return [...this.#sessions.values()].filter(
      ({ key }) =>
        key.tenant === tenant && (owner ?? key.owner) === key.owner && (agents ?? [key.agent]).includes(key.agent),
    )
  }

  #get(key: SessionKey): MemorySession | undefined {
    return this.#sessions.get(nameOf(key))
  }

  #pendingCalls(scope: ListScope): PendingCall[] {
    return this.in(checkOwner(scope)).flatMap((session) => session.pendingCalls().map((call) => ({ session, call })))
  }

  #isHeld({ until }: MemorySession): boolean {
    return until > this.#clock.monotonic()
  }

  #isNeeded(session: MemorySession): boolean {
    const now = this.#clock.now()
    return (
      session.key.agent.startsWith('memory:documents/') ||
      this.#isHeld(session) ||
      session.pendingCalls().some(({ expiresAt = 0 }) => expiresAt > now)
    )
  }

  /** Returns the session if the lease is valid and the turn comes next. @throws AlliumError `store.fenced`, `store.conflict` */
  #writable({ key, token }: Lease, version: number, { from, turnId }: StoredTurn): MemorySession {
    const session = this.#get(key)
    if (session === undefined || session.token !== token || !this.#isHeld(session)) throw fenced(key)
    if (session.has(turnId)) throw turnIdTaken(session.key, turnId)
    const conflict = turnConflict(session.key, session, { version, from, turnId })
    if (conflict !== undefined) throw conflict
    return session
  }

  #forget(sessions: MemorySession[]): MemorySession[] {
    for (const { key } of sessions) this.#sessions.delete(nameOf(key))
    return sessions
  }
}

function rankOf({ session, call }: PendingCall): [number, string] {
  return [session.updatedAt, JSON.stringify([nameOf(call.key), call.callId])]
}

/** @throws AlliumError `store.key`, as in every other store */
function checkKey(key: SessionKey): SessionKey {
  checkOwner(key)
  checkStoreName('agent of the session', key.agent)
  checkStoreName('session id', key.sessionId)
  return key
}

/** Serializes the key as a JSON list, so that no two keys are equal. */
function nameOf({ tenant, owner, agent, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}
