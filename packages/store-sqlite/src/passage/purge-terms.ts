import type { Database } from '../database/database.ts'

/** Pages that a step writes; timers and other writes run between steps. */
const pages = 64

/**
 * Rewrites the index of terms without those of deleted passages, in steps. A deleted passage is only marked there, so its terms would stay in
 * the file until enough others are written. If a step fails, the next call begins again.
 *
 * @param deleted how many were deleted
 */
export async function purgeTerms(db: Database, deleted: number): Promise<void> {
  const step = (count: number) =>
    db.writeInGroup(() => {
      const before = changes(db)
      db.run("insert into passage_terms (passage_terms, rank) values ('merge', ?)", count)
      return changes(db) - before
    })
  // A negative number begins to merge the whole index. Fewer than two changes mean that nothing was left to merge.
  if ((await step(-pages)) >= 2) while ((await step(pages)) >= 2);
  await db.writeInGroup(() => db.run("update counters set value = value - ? where name = 'passages'", deleted))
}

function changes(db: Database): number {
  return Number(db.get('select total_changes() as n')?.n)
}
