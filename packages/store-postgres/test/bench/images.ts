import { createHash } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, type Input } from '@allium/core'
import { persist } from '@allium/memory'
import type { SessionStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import pg from 'pg'
import { opened } from '../../../store-sqlite/test/files.ts'

/** CPU time, and the longest time for which the event loop was blocked, in milliseconds. */
export interface Taken {
  readonly cpu: number
  readonly held: number
}

/** Runs a turn of one model call in a new session. Its input has an image of this size. */
export async function turnWithImage(store: SessionStore, bytes: number, id: string): Promise<Taken> {
  const model = scriptedModel(['A cat on a chair.'])
  const agent = new Agent({ model, logger: { warn() {}, error: console.error } }).use(persist({ store }))
  await agent.init()
  const session = agent.session({ id, principal: { tenantId: 'acme', userId: id } })
  const input = inputWith(bytes)
  const taken = await took(async () => {
    const { status } = await session.run(input)
    if (status !== 'completed') throw new Error(`A turn was ${status}.`)
  })
  await session.close()
  return taken
}

/** Copies, hashes and writes the same number of bytes in pieces, without a store. */
export function written(bytes: number, write: (piece: Uint8Array, at: number) => unknown): Promise<Taken> {
  const given = imageOf(bytes)
  return took(async () => {
    const image = new Uint8Array(given)
    const hash = createHash('sha256')
    for (let at = 0; at < bytes; at += 262_140) {
      hash.update(image.subarray(at, at + 262_140))
      await setImmediate()
      await write(image.subarray(at, at + 262_140), at)
      await setImmediate()
    }
    hash.digest()
  })
}

/** Writes each piece in one transaction, into a file with the store's settings. */
export async function sqlitePieces(
  path: string,
  work: (write: (piece: Uint8Array) => void) => Promise<Taken>,
): Promise<Taken> {
  const db = opened(path)
  for (const pragma of ['synchronous = full', 'secure_delete = on', 'wal_autocheckpoint = 4000', 'cache_size = -16000'])
    db.pragma(pragma)
  db.exec('create table if not exists pieces (at integer primary key, body blob)')
  const statement = db.prepare('insert into pieces (body) values (?)')
  let n = 0
  try {
    return await work((piece) => {
      db.exec('begin immediate')
      statement.run([piece])
      db.exec('commit')
      if (++n % 4 === 0) db.pragma('wal_checkpoint(PASSIVE)')
    })
  } finally {
    db.close()
  }
}

/** The same for Postgres. */
export async function postgresPieces(
  url: string,
  work: (write: (piece: Uint8Array) => Promise<unknown>) => Promise<Taken>,
): Promise<Taken> {
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  await pool.query('create table if not exists pieces (body bytea)')
  await pool.query('alter table pieces alter column body set storage external')
  try {
    return await work((piece) => pool.query('insert into pieces values ($1)', [piece]))
  } finally {
    await pool.end()
  }
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Collects garbage first, so that no work pays for the megabytes that the work before it has left. */
export async function took(work: () => Promise<void>): Promise<Taken> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  collect()
  await setImmediate()
  const begun = process.cpuUsage()
  delay.enable()
  await work()
  delay.disable()
  const { user, system } = process.cpuUsage(begun)
  return { cpu: (user + system) / 1000, held: delay.max / 1e6 }
}

function inputWith(bytes: number): Input {
  if (bytes === 0) return 'What is this?'
  return { role: 'user', content: [{ type: 'image', data: imageOf(bytes), mediaType: 'image/png' }] }
}

/** New bytes each time, because a store writes the same bytes of an owner only once. */
export function imageOf(bytes: number): Uint8Array {
  const data = crypto.getRandomValues(new Uint8Array(1024))
  const image = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += 1024) image.set(data.subarray(0, bytes - at), at)
  return image
}
