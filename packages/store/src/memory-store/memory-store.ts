import { AlliumError, type Clock, type Lease, type SessionKey, type StoredTurn, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
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
  const of = ({
    tenant,
    owner,
    agents,
  }: {
    tenant: string
    owner?: string | undefined
    agents?: readonly string[] | undefined
  }) =>
    [...sessions.values()].filter(
      ({ key }) =>
        key.tenant === tenant &&
        (owner === undefined || key.owner === owner) &&
        (agents === undefined || agents.includes(key.agent)),
    )
  const forget = (selected: readonly MemorySession[]) => {
    for (const { key } of selected) sessions.delete(nameOf(key))
    return selected.filter((session) => session.summary() !== undefined).length
  }
  const pendingCalls = (which: Parameters<typeof of>[0]) =>
    of(which).flatMap((session) => session.pendingCalls().map((call) => ({ session, call })))
  const moved = (from: MemorySession, key: SessionKey) => {
    sessions.delete(nameOf(from.key))
    sessions.set(nameOf(key), from.movedTo(ownCopy(key)))
  }

  return {
    load: async (key, { version } = {}) => sessions.get(nameOf(checkKey(key)))?.loaded(version),
    head: async (key, { turnId } = {}) => sessions.get(nameOf(checkKey(key)))?.head(turnId),
    history: async (key, { before, limit }) => sessions.get(nameOf(checkKey(key)))?.page(before, limit) ?? [],
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
    find: async (key, by) => sessions.get(nameOf(checkKey(key)))?.find(by),
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
      if (isHeld(from) && from.token !== lease?.token) throw busy(key, clock.now() + from.until - clock.monotonic())
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

function check(session: MemorySession, version: number, { from, turnId }: StoredTurn): void {
  if (session.has(turnId)) throw taken(session.key, turnId)
  if (session.version !== version) throw conflict(session.key, version, session.version)
  const { length } = session
  if (from <= length) return
  throw new AlliumError(
    'store.conflict',
    `The turn "${turnId}" starts at message ${from}, but the session "${session.key.sessionId}" has ${length} messages. Load it again, and repeat the run.`,
  )
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

function busy({ sessionId }: SessionKey, heldUntil: number): AlliumError {
  return new AlliumError(
    'session.busy',
    `The session "${sessionId}" is running a turn under another name of its agent. Try again when it has ended.`,
    { details: { sessionId, heldUntil } },
  )
}

function fenced({ sessionId }: SessionKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The lease of the session "${sessionId}" was lost: it expired, and another process may have continued the session. Nothing was stored.`,
  )
}

function conflict({ sessionId }: SessionKey, expected: number, found: number): AlliumError {
  return new AlliumError(
    'store.conflict',
    `The session "${sessionId}" has ${found} stored turns, but ${expected} were expected. Load it again, and repeat the run.`,
  )
}

function taken({ sessionId }: SessionKey, turnId: string): AlliumError {
  return new AlliumError(
    'store.conflict',
    `The session "${sessionId}" already has a turn with the id "${turnId}", which was kept. Use turn ids that are unique in the session.`,
  )
}
