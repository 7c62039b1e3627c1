import type { Database } from '../database/database.ts'

/** Removes the terms of deleted passages from the file, if there are any. Loads the code only then. */
export async function purgeDeletedTerms(db: Database): Promise<void> {
  const deleted = Number(db.get("select value from counters where name = 'passages'")?.value)
  if (deleted > 0) await (await import('@allium/store-sqlite/late')).purgeTerms(db, deleted)
}
