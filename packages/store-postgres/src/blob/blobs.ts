import type { SessionKey } from '@allium/core'
import { fenced } from '@allium/store'
import { type BlobTable, toBytes } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import { keyParams } from '../database/keys.ts'

/** Pieces that one step deletes. */
const piecesPerStep = 16

/** Translates the error of `keep_blobs`: the write no longer holds its blobs, and nothing was stored. @throws AlliumError `store.fenced` */
export async function translateLostBlobs<T>(key: SessionKey, stored: Promise<T>): Promise<T> {
  try {
    return await stored
  } catch (error) {
    throw (error as { code?: unknown }).code === 'AL001' ? fenced(key) : error
  }
}

/** Blobs in Postgres. */
export function postgresBlobs(db: Database): BlobTable {
  return {
    async hold({ key, token = null, id, digests }) {
      return ((await db.call('hold_blobs', ...keyParams(key), token, id, digests)) as number[] | null) ?? undefined
    },
    async add({ key, id }, digest, piece, body) {
      return (await db.call('add_blob_piece', ...keyParams(key), id, digest, piece, body)) === true
    },
    async rollback({ key, id }) {
      await db.queryIdempotent(
        `delete from ${db.s}.blob_holders
         where tenant = $1 and owner = $2 and agent = $3 and session = $4 and kind = 'write' and holder = $5`,
        ...[...keyParams(key), id],
      )
    },
    async piece({ tenant, owner }, digest, piece) {
      const sql = `select body from ${db.s}.blobs where tenant = $1 and owner = $2 and digest = $3 and piece = $4`
      const [row] = await db.queryIdempotent(sql, tenant, owner, digest, piece)
      return row && toBytes(row.body)
    },
    collect: async () => (await db.call('collect_blobs', piecesPerStep)) === true,
  }
}
