import type { Ledger, SessionStore } from '@allium/store'
import type { Opened } from './scene.ts'

/** A store that is asked all that counts once more: by a client that was not told of the first time, and by one that comes too late. */
export function doubted<Store extends Opened>(store: Store): Opened {
  return { sessions: takenOnce(store.sessions), ledger: postedOnce(store.ledger), close: () => store.close() }
}

/** Who holds a session holds it alone: somebody else asks for it at once. */
function takenOnce(sessions: SessionStore): SessionStore {
  return {
    ...sessions,
    async acquire(key, ms) {
      const begun = performance.now()
      const first = await sessions.acquire(key, ms)
      if (first.lease === undefined) return first
      const second = await sessions.acquire(key, ms)
      if (second.lease === undefined) return first
      // Where the process stood still, the first has run out.
      if (performance.now() - begun < ms) throw new Error(`The session "${key.sessionId}" was given to two at once.`)
      return second
    },
  }
}

/** What was posted stays as it was posted first. */
function postedOnce(ledger: Ledger): Ledger {
  return {
    ...ledger,
    async reserve(request) {
      await ledger.reserve(request)
      return ledger.reserve(request)
    },
    ...(ledger.settleSoon !== undefined && {
      async settleSoon(reservation, spent) {
        void ledger.settleSoon?.(reservation, spent)
        await ledger.settleSoon?.(reservation, spent + 1)
      },
    }),
    async settle(reservation, spent) {
      await ledger.settle(reservation, spent)
      await ledger.settle(reservation, spent)
      await ledger.settle(reservation, spent + 1)
    },
  }
}
