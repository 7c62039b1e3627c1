import type { SessionKey } from '@allium/core'
import { type BlobTable, bytesOf, fenced } from '@allium/store-sql'
import type { Database } from './database.ts'
import { at } from './names.ts'

/** Pieces that one step deletes. */
const some = 16

/** Translates the error of `keep_blobs`: the write no longer holds its blobs, and nothing was stored. @throws AlliumError `store.fenced` */
export async function fencedWithout<T>(key: SessionKey, kept: Promise<T>): Promise<T> {
  try {
    return await kept
  } catch (error) {
    throw (error as { code?: unknown }).code === 'AL001' ? fenced(key) : error
  }
}

/** Blobs in Postgres. */
export function postgresBlobs(db: Database): BlobTable {
  const call = async (name: string, ...values: unknown[]) => {
    const [row] = await db.repeatable(`select ${db.s}.${name}(${values.map((_, i) => `$${i + 1}`)}) as it`, ...values)
    return row?.it
  }
  return {
    async hold({ key, token = null, id, digests }) {
      return ((await call('hold_blobs', ...at(key), token, id, digests)) as number[] | null) ?? undefined
    },
    async add({ key, id }, digest, piece, body) {
      return (await call('add_blob_piece', ...at(key), id, digest, piece, body)) === true
    },
    async drop({ key, id }) {
      await db.repeatable(
        `delete from ${db.s}.blob_holders
         where tenant = $1 and owner = $2 and agent = $3 and session = $4 and kind = 'write' and holder = $5`,
        ...[...at(key), id],
      )
    },
    async piece({ tenant, owner }, digest, piece) {
      const sql = `select body from ${db.s}.blobs where tenant = $1 and owner = $2 and digest = $3 and piece = $4`
      const [row] = await db.repeatable(sql, tenant, owner, digest, piece)
      return row && bytesOf(row.body)
    },
    collect: async () => (await call('collect_blobs', some)) === true,
  }
}
