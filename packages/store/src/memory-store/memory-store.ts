import { type Clock, type Lease, type SessionKey, type StoredTurn, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { fenced, heldByOtherAgent, turnConflict, turnIdTaken } from '../conflicts.ts'
import type { SessionStore } from '../session-store.ts'
import { checkOwner, checkStoreName } from '../store-name.ts'
import { checkTurn } from '../stored-turn.ts'
import { ownCopy } from './copy.ts'
import { MemoryOutbox, type OutboxOptions } from './memory-outbox.ts'
import { MemorySession, sameTurn } from './memory-session.ts'
import { pageOf } from './page.ts'

export interface MemoryStoreOptions extends OutboxOptions {
  clock?: Clock | undefined
}

const known: KeysOf<MemoryStoreOptions> = { clock: true, consumers: true, recordRetention: true }

/** The key under which `allium dev` gives its own store, so that sessions survive a reload of the agent. */
const standIn = Symbol.for('allium:memory-store')

/** Stores copies of sessions in this process. For tests, and for data that need not outlive the process. */
export function memoryStore(options: MemoryStoreOptions = {}): SessionStore {
  checkOptions(options, known, 'memoryStore()', 'options.invalid')
  const replacement = (globalThis as { [standIn]?: () => SessionStore })[standIn]
  if (replacement !== undefined) return replacement()
  const { clock = systemClock, ...records } = options
  const sessions = new Map<string, MemorySession>()
  const outbox = new MemoryOutbox(clock, records)
  let tokens = 0

  const sessionOf = (key: SessionKey) => {
    const name = nameOf(key)
    const session = sessions.get(name) ?? new MemorySession(ownCopy(key))
    sessions.set(name, session)
    return session
  }
  const found = (key: SessionKey) => sessions.get(nameOf(checkKey(key)))
  const isHeld = ({ until }: MemorySession) => until > clock.monotonic()
  /** Returns the session if the lease is still valid. */
  const held = (lease: Lease) => {
    const session = sessions.get(nameOf(lease.key))
    if (session === undefined || session.token !== lease.token || !isHeld(session)) throw fenced(lease.key)
    return session
  }
  const free = ({ key, token }: Lease) => {
    const session = sessions.get(nameOf(key))
    if (session?.token === token) session.until = 0
  }
  const of = ({ tenant, owner, agents }: ListScope) =>
    [...sessions.values()].filter(
      ({ key }) =>
        key.tenant === tenant && (owner ?? key.owner) === key.owner && (agents ?? [key.agent]).includes(key.agent),
    )
  const forget = (selected: readonly MemorySession[]) => {
    for (const { key } of selected) sessions.delete(nameOf(key))
    return selected.filter((session) => session.summary() !== undefined).length
  }
  const pendingCalls = (which: ListScope) =>
    of(which).flatMap((session) => session.pendingCalls().map((call) => ({ session, call })))
  const moved = (from: MemorySession, key: SessionKey) => {
    sessions.delete(nameOf(from.key))
    from.key = ownCopy(key)
    sessions.set(nameOf(key), from)
  }

  return {
    load: async (key, { version } = {}) => found(key)?.loaded(version),
    head: async (key, { turnId } = {}) => found(key)?.head(turnId),
    history: async (key, { before, limit }) => found(key)?.page(before, limit) ?? [],
    async acquire(key, ms) {
      const session = sessionOf(checkKey(key))
      const left = session.until - clock.monotonic()
      if (left > 0) return { heldUntil: clock.now() + left }
      session.token = ++tokens
      session.until = clock.monotonic() + ms
      const { token, version, open } = session
      return { lease: { key: { ...session.key }, token, version, ...(open !== undefined && { open: true }) } }
    },
    async renew({ key, token }, ms) {
      const session = sessions.get(nameOf(key))
      if (session === undefined || session.token !== token || session.until === 0) return false
      session.until = clock.monotonic() + ms
      return true
    },
    release: async (lease) => free(lease),
    async checkpoint(lease, version, turn) {
      const copy = ownCopy(checkTurn(turn))
      const session = held(lease)
      check(session, version, copy)
      session.open = copy
      session.updatedAt = clock.now()
    },
    async append(lease, version, turn, { release = false } = {}) {
      const copy = ownCopy(checkTurn(turn))
      const known = sessions.get(nameOf(lease.key))?.turns.find(({ turnId }) => turnId === turn.turnId)
      if (known === undefined || !sameTurn(known, copy)) {
        const session = held(lease)
        check(session, version, copy)
        session.turns.push(copy)
        session.open = undefined
        session.updatedAt = clock.now()
        outbox.add(lease.key, copy)
      }
      if (release) free(lease)
    },
    find: async (key, by, { files } = {}) => found(key)?.find(by, files),
    async list({ cursor, limit, ...which }) {
      const all = of(checkOwner(which)).flatMap((session) => session.summary() ?? [])
      return pageOf(all, (one) => [-one.updatedAt, nameOf(one.key)], { cursor, limit })
    },
    async pendingCalls({ cursor, limit, ...which }) {
      const calls = pendingCalls(checkOwner(which))
      const rank = ({ session, call }: (typeof calls)[0]): [number, string] => [
        session.updatedAt,
        JSON.stringify([nameOf(call.key), call.callId]),
      ]
      const { items, ...rest } = pageOf(calls, rank, { cursor, limit })
      return { items: items.map(({ call }) => call), ...rest }
    },
    async findPendingCall({ token, ...which }) {
      const found = pendingCalls(checkOwner(which)).find(
        ({ session, call }) => session.last?.rest.suspension?.calls[call.callId]?.token === token,
      )
      return found?.call
    },
    async rename(key, names, { lease } = {}) {
      checkKey(key)
      const there = sessions.get(nameOf(key))
      if (there !== undefined && (!there.isEmpty || isHeld(there))) return false
      const from = names
        .filter((agent) => agent !== key.agent)
        .flatMap((agent) => sessions.get(nameOf({ ...key, agent })) ?? [])
        .find((session) => !session.isEmpty || session.token === lease?.token)
      if (from === undefined) return false
      if (isHeld(from) && from.token !== lease?.token)
        throw heldByOtherAgent(key, clock.now() + from.until - clock.monotonic())
      moved(from, key)
      return true
    },
    async delete(key) {
      sessions.delete(nameOf(checkKey(key)))
    },
    async erase({ tenant, owner }) {
      const which = checkOwner({ tenant, owner })
      const stored = forget(of(which))
      outbox.erase(which)
      return stored
    },
    async expire({ olderThan }) {
      const before = clock.now() - olderThan
      const stays = (session: MemorySession) =>
        isHeld(session) || session.pendingCalls().some(({ expiresAt = 0 }) => expiresAt > clock.now())
      return forget([...sessions.values()].filter((session) => session.updatedAt < before && !stays(session)))
    },
    outbox,
  }
}

interface ListScope {
  tenant: string
  owner?: string | undefined
  agents?: readonly string[] | undefined
}

function check(session: MemorySession, version: number, { from, turnId }: StoredTurn): void {
  if (session.has(turnId)) throw turnIdTaken(session.key, turnId)
  const conflict = turnConflict(session.key, session, { version, from, turnId })
  if (conflict !== undefined) throw conflict
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
