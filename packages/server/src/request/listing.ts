import type { Page } from '@allium/store'
import type { Seals } from '../host/host.ts'
import type { CursorScope } from '../http/cursors.ts'

/** A page that a client requests. */
export interface PageRequest {
  readonly cursor?: string | undefined
  readonly limit: number
}

/** Reads a page from a store. */
export type ReadPage<T> = (page: { cursor?: string; limit: number }) => Promise<Page<T>>

/** Most rows read for one request. */
const maxRows = 200
/** Rows read at once. */
const batchSize = 100

/** Returns a page of a list of which the caller may see all rows, with a sealed cursor. */
export async function unfilteredPage<T>(
  { cursors }: Seals,
  scope: CursorScope,
  { cursor, limit }: PageRequest,
  read: ReadPage<T>,
): Promise<Page<T>> {
  const from = cursor === undefined ? {} : { cursor: await cursors.open(cursor, scope) }
  const { items, cursor: next } = await read({ ...from, limit })
  return { items, ...(next !== undefined && { cursor: await cursors.seal(next, scope) }) }
}

/**
 * Returns a page of a list of which the caller may see some rows. It has a cursor only if another visible row follows, or if `maxRows`
 * rows were read before the end. Up to that number, the page does not reveal how many rows are hidden.
 *
 * @param options.toItem returns the visible form of a row; undefined hides the row
 */
export async function filteredPage<T, U>(
  { cursors }: Seals,
  scope: CursorScope,
  { cursor, limit }: PageRequest,
  { read, toItem }: { read: ReadPage<T>; toItem: (row: T) => Promise<U | undefined> },
): Promise<Page<U>> {
  const items: U[] = []
  let from = cursor === undefined ? undefined : await cursors.open(cursor, scope)
  /** Reads the rows up to the last one of a full page, and so the cursor after them. */
  let fullPage: { cursor?: string; limit: number } | undefined
  const finish = async () => {
    const { cursor: next } = fullPage === undefined ? { cursor: from } : await read(fullPage)
    return next === undefined ? { items } : { items, cursor: await cursors.seal(next, scope) }
  }
  for (let rows = 0; rows < maxRows; rows += batchSize) {
    const page = await read(pageAfter(from, batchSize))
    for (const [index, row] of page.items.entries()) {
      const item = await toItem(row)
      if (item === undefined) continue
      if (fullPage !== undefined) return finish()
      items.push(item)
      if (items.length === limit) fullPage = pageAfter(from, index + 1)
    }
    if (page.cursor === undefined) return { items }
    from = page.cursor
  }
  return finish()
}

function pageAfter(cursor: string | undefined, limit: number): { cursor?: string; limit: number } {
  return cursor === undefined ? { limit } : { cursor, limit }
}
