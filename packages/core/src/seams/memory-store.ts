import { AlliumError } from '../errors/allium-error.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Lease, SessionKey, SessionStore, StoredSession, StoredTurn } from './session-store.ts'

interface Held {
  token: number
  until: number
}

/** Keeps sessions in this process, as copies. For tests, and for what need not outlive it. */
export function memoryStore({ clock = systemClock }: { clock?: Clock } = {}): SessionStore {
  const sessions = new Map<string, StoredSession>()
  const leases = new Map<string, Held>()
  let tokens = 0

  const holds = ({ key, token }: Lease) => {
    const held = leases.get(nameOf(key))
    return held?.token === token && held.until > clock.monotonic() ? held : undefined
  }

  return {
    load: async (key) => ownCopy(sessions.get(nameOf(key))),
    async acquire(key, ms) {
      const name = nameOf(key)
      const now = clock.monotonic()
      if ((leases.get(name)?.until ?? 0) > now) return undefined
      leases.set(name, { token: ++tokens, until: now + ms })
      return { key, token: tokens, version: sessions.get(name)?.version ?? 0 }
    },
    async renew(lease, ms) {
      const held = holds(lease)
      if (held !== undefined) held.until = clock.monotonic() + ms
      return held !== undefined
    },
    async release(lease) {
      if (holds(lease) !== undefined) leases.delete(nameOf(lease.key))
    },
    async append(lease, version, turn) {
      const name = nameOf(lease.key)
      if (holds(lease) === undefined) throw fenced(lease.key)
      const before = sessions.get(name) ?? { version: 0, history: [], rest: { state: {} } }
      if (before.version !== version) throw conflict(lease.key, version, before.version)
      sessions.set(name, appended(before, ownCopy(turn)))
    },
    async delete(key) {
      sessions.delete(nameOf(key))
    },
  }
}

/** A copy down to the bytes. URLs never change, and are shared. */
function ownCopy<T>(value: T): T {
  if (value instanceof Uint8Array) return value.slice() as T
  if (Array.isArray(value)) return value.map(ownCopy) as T
  if (typeof value !== 'object' || value === null || value instanceof URL) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ownCopy(item)])) as T
}

function appended({ version, history }: StoredSession, { from, messages, rest }: StoredTurn): StoredSession {
  return { version: version + 1, history: [...history.slice(0, from), ...messages], rest }
}

/** A list in JSON, so that no id can pose as another's. */
function nameOf({ tenant, owner, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, sessionId])
}

function fenced({ sessionId }: SessionKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The lease of the session "${sessionId}" was lost: it ran out, and somebody else may have gone on. Nothing was stored.`,
  )
}

function conflict({ sessionId }: SessionKey, expected: number, found: number): AlliumError {
  return new AlliumError(
    'store.conflict',
    `The session "${sessionId}" has ${found} stored turns, where ${expected} were expected. Load it again, and repeat the run.`,
  )
}
