import type { SessionKey, SessionStore, StoredSession } from '@allium/core'
import {
  type Blobs,
  checkKey,
  checkName,
  checkOwner,
  historyOf,
  type OutboxOptions,
  openedPart,
  readAgain,
  turnOf,
  turnRow,
} from '@allium/store-sql'
import type { Database } from './database.ts'
import { Eraser } from './eraser.ts'
import { ofSession } from './forget.ts'
import { at, where } from './leases.ts'
import { Lists, type Parts } from './lists.ts'
import { SqliteOutbox } from './outbox.ts'
import { openPlace, Turns } from './turns.ts'

/** Sessions in a SQLite file. */
export function sqliteSessions(parts: Parts, options: OutboxOptions): SessionStore {
  const { db, clock, leases, renames, erasures, blobs } = parts
  const turns = new Turns(parts)
  const lists = new Lists(parts)
  const eraser = new Eraser(db, erasures, blobs)
  const claimed = async <T>(key: SessionKey, work: (key: SessionKey) => T | Promise<T>): Promise<T> => {
    await renames.claim(checkKey(key))
    return work(key)
  }
  return {
    load: (key, { version } = {}) => claimed({ ...key }, (own) => readAgain(() => loaded(db, blobs, own, version))),
    acquire: (key, ms) => claimed({ ...key }, (own) => leases.acquire(own, ms)),
    renew: async (lease, ms) => leases.renew(lease, ms),
    release: (lease) => db.writeTogether(() => leases.release(lease)),
    checkpoint: (lease, version, turn) => turns.checkpoint(lease, version, turn),
    append: (lease, version, turn, { release = false } = {}) => turns.append(lease, version, turn, release),
    find: (key, by) => claimed({ ...key }, (own) => turns.find(own, by)),
    adopt: (key, names, { lease } = {}) => claimed({ ...key }, (own) => renames.adopt(own, names, lease)),
    list: async (of) => lists.list(checkOwner(of)),
    waiting: async (of) => lists.waiting(checkOwner(of)),
    findWaiting: async (of) => lists.findWaiting({ ...of, tenant: checkName('tenant', of.tenant) }),
    delete: async (key) => lists.delete(checkKey(key)),
    erase: async (of) => eraser.erase(checkOwner(of)),
    expire: async (of) => lists.expire(of),
    outbox: new SqliteOutbox(db, clock, blobs, options),
  }
}

async function loaded(
  db: Database,
  blobs: Blobs,
  key: SessionKey,
  wanted: number | undefined,
): Promise<StoredSession | undefined> {
  const session = db.get(`select version, open_turn from sessions where ${where}`, ...at(key))
  if (session === undefined) return undefined
  const last = Number(session.version)
  const version = wanted ?? last
  const isOpen = session.open_turn !== null && version === last
  if ((version === 0 && !isOpen) || version > last) return undefined
  const of = `from turns where ${ofSession}`
  const rows = db.all(
    `select seq, turn_id, start, messages, sealed_as ${of} and seq >= 0 and seq < ? order by seq`,
    ...at(key),
    version,
  )
  const rest =
    version === 0 ? undefined : db.get(`select turn_id, rest, sealed_as ${of} and seq = ?`, ...at(key), version - 1)
  const stored: StoredSession = {
    version,
    owner: key.owner,
    history: await historyOf(key, rows, blobs),
    rest: rest === undefined ? { state: {} } : ((await openedPart(key, rest, 'rest', blobs)) as StoredSession['rest']),
  }
  if (!isOpen) return stored
  const open = db.get(`select * ${of} and seq = ?`, ...at(key), openPlace)
  return open === undefined ? stored : { ...stored, open: await turnOf(key, turnRow(open), blobs) }
}
