import type { SessionKey } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import {
  type Blobs,
  checkKey,
  checkName,
  checkOwner,
  headFromRow,
  historyFromRows,
  type OutboxOptions,
  openPart,
  pageBytes,
  parseTurnRow,
  retryRead,
  turnFromRow,
  turnsFromRows,
} from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import { sessionMatches } from '../lease/delete-session.ts'
import { keyParams, leaseMatches } from '../lease/leases.ts'
import { SqliteOutbox } from '../outbox/outbox.ts'
import type { StoreParts } from '../store-parts.ts'
import { AgentRenames } from './agent-renames.ts'
import { Eraser } from './eraser.ts'
import { SessionLists } from './session-lists.ts'
import { openTurnSeq, Turns } from './turns.ts'

const turnsMatch = 'tenant = ?1 and owner = ?2 and agent = ?3 and session = ?4'

/** Sessions in a SQLite file. */
export function sqliteSessions(parts: StoreParts, options: OutboxOptions): SessionStore {
  const { db, clock, leases, erasures, blobs } = parts
  const renames = new AgentRenames(db, clock, leases)
  const turns = new Turns(parts)
  const lists = new SessionLists(parts)
  const eraser = new Eraser(db, erasures, blobs)
  return {
    async load(key, { version } = {}) {
      const checkedKey = checkKey({ ...key })
      return retryRead(() => loadSession(db, blobs, checkedKey, version))
    },
    async head(key, { turnId = null } = {}) {
      const checkedKey = checkKey({ ...key })
      return retryRead(async () => {
        const row = db.get(selectHead, ...keyParams(checkedKey), turnId)
        return row && headFromRow(checkedKey, row, blobs)
      })
    },
    async history(key, { before, limit }) {
      const checkedKey = checkKey({ ...key })
      return retryRead(async () =>
        turnsFromRows(checkedKey, db.all(selectPage, ...keyParams(checkedKey), before, limit), blobs),
      )
    },
    acquire: async (key, ms) => leases.acquire(checkKey({ ...key }), ms),
    renew: async (lease, ms) => leases.renew(lease, ms),
    release: (lease) => db.writeUnsynced(() => void leases.release(lease)),
    checkpoint: (lease, version, turn) => turns.checkpoint(lease, version, turn),
    append: (lease, version, turn, { release = false } = {}) => turns.append(lease, version, turn, release),
    find: async (key, by, { files } = {}) => turns.find(checkKey({ ...key }), by, files),
    rename: async (key, names, { lease } = {}) => renames.adopt(checkKey({ ...key }), names, lease),
    list: async (turnsOfSession) => lists.list(checkOwner(turnsOfSession)),
    pendingCalls: async (turnsOfSession) => lists.pendingCalls(checkOwner(turnsOfSession)),
    findPendingCall: async (turnsOfSession) =>
      lists.findPendingCall({ ...turnsOfSession, tenant: checkName('tenant', turnsOfSession.tenant) }),
    delete: async (key) => lists.delete(checkKey(key)),
    erase: async (turnsOfSession) => eraser.erase(checkOwner(turnsOfSession)),
    expire: async (turnsOfSession) => lists.expire(turnsOfSession),
    outbox: new SqliteOutbox(db, clock, blobs, options),
  }
}

const selectHead = `
  select s.open_turn, t.seq, t.turn_id, t.sealed_as, t.rest from sessions s left join turns t
  on t.tenant = s.tenant and t.owner = s.owner and t.agent = s.agent and t.session = s.id
  and t.seq >= 0 and iif(?5 is null, t.seq = s.version - 1, t.turn_id = ?5)
  where s.tenant = ?1 and s.owner = ?2 and s.agent = ?3 and s.id = ?4 and (?5 is null or t.seq >= 0)`

/** Each row of the page has the lowest start of the rows before it, and their bytes. Both are read without the messages themselves. */
const selectPage = `
  with page as (select seq, min(start) over newer as reached, sum(size) over newer as bytes from (
    select seq, start, length(messages) as size from turns
    where ${turnsMatch} and seq >= 0 and start < ?5 order by seq desc limit ?6)
    window newer as (order by seq desc rows between unbounded preceding and 1 preceding))
  select seq, turn_id, start, sealed_as, messages, iif(seq < 0, info, null) as info from turns where ${turnsMatch}
  and seq in (select ${openTurnSeq} union all select seq from page where reached is null or (bytes < ${pageBytes}
    and reached > min(?5, (select length from sessions where tenant = ?1 and owner = ?2 and agent = ?3 and id = ?4)) - ?6))
  order by seq < 0 desc, seq desc`

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
