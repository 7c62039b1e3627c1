import type { SessionKey } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import {
  type Blobs,
  checkKey,
  checkName,
  checkOwner,
  historyFromRows,
  type OutboxOptions,
  openPart,
  parseTurnRow,
  retryRead,
  turnFromRow,
} from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import { sessionMatches } from './delete-session.ts'
import { Eraser } from './eraser.ts'
import { keyParams, leaseMatches } from './leases.ts'
import { SqliteOutbox } from './outbox.ts'
import { SessionLists, type StoreParts } from './session-lists.ts'
import { openTurnSeq, Turns } from './turns.ts'

/** Sessions in a SQLite file. */
export function sqliteSessions(parts: StoreParts, options: OutboxOptions): SessionStore {
  const { db, clock, leases, renames, erasures, blobs } = parts
  const turns = new Turns(parts)
  const lists = new SessionLists(parts)
  const eraser = new Eraser(db, erasures, blobs)
  return {
    async load(key, { version } = {}) {
      const checkedKey = checkKey({ ...key })
      return retryRead(() => loadSession(db, blobs, checkedKey, version))
    },
    acquire: async (key, ms) => leases.acquire(checkKey({ ...key }), ms),
    renew: async (lease, ms) => leases.renew(lease, ms),
    release: (lease) => db.writeUnsynced(() => leases.release(lease)),
    checkpoint: (lease, version, turn) => turns.checkpoint(lease, version, turn),
    append: (lease, version, turn, { release = false } = {}) => turns.append(lease, version, turn, release),
    find: async (key, by) => turns.find(checkKey({ ...key }), by),
    rename: async (key, names, { lease } = {}) => renames.adopt(checkKey({ ...key }), names, lease),
    list: async (turnsOfSession) => lists.list(checkOwner(turnsOfSession)),
    pendingCalls: async (turnsOfSession) => lists.waiting(checkOwner(turnsOfSession)),
    findPendingCall: async (turnsOfSession) =>
      lists.findPendingCall({ ...turnsOfSession, tenant: checkName('tenant', turnsOfSession.tenant) }),
    delete: async (key) => lists.delete(checkKey(key)),
    erase: async (turnsOfSession) => eraser.erase(checkOwner(turnsOfSession)),
    expire: async (turnsOfSession) => lists.expire(turnsOfSession),
    outbox: new SqliteOutbox(db, clock, blobs, options),
  }
}

async function loadSession(
  db: Database,
  blobs: Blobs,
  key: SessionKey,
  requestedVersion: number | undefined,
): Promise<StoredSession | undefined> {
  const session = db.get(`select version, open_turn from sessions where ${leaseMatches}`, ...keyParams(key))
  if (session === undefined) return undefined
  const last = Number(session.version)
  const version = requestedVersion ?? last
  const isOpen = session.open_turn !== null && version === last
  if ((version === 0 && !isOpen) || version > last) return undefined
  const turnsOfSession = `from turns where ${sessionMatches}`
  const rows =
    version === 0
      ? []
      : db.all(
          `select seq, turn_id, start, messages, sealed_as, iif(seq = ?, rest, null) as rest
           ${turnsOfSession} and seq >= 0 and seq < ? order by seq`,
          version - 1,
          ...keyParams(key),
          version,
        )
  const rest = rows.at(-1)
  const stored: StoredSession = {
    version,
    owner: key.owner,
    history: await historyFromRows(key, rows, blobs),
    rest:
      (rest?.rest ?? null) === null
        ? { state: {} }
        : ((await openPart(key, rest as Row, 'rest', blobs)) as StoredSession['rest']),
  }
  if (!isOpen) return stored
  const open = db.get(`select * ${turnsOfSession} and seq = ?`, ...keyParams(key), openTurnSeq)
  return open === undefined ? stored : { ...stored, open: await turnFromRow(key, parseTurnRow(open), blobs) }
}
