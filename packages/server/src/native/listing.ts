import type { Page } from '@allium/core'
import type { Host } from '../host.ts'
import type { CursorScope } from '../request/cursors.ts'

/** A page that a client asks for. */
export interface PageRequest {
  readonly cursor?: string | undefined
  readonly limit: number
}

/** Reads a page of a store. */
export type ReadPage<T> = (page: { cursor?: string; limit: number }) => Promise<Page<T>>

/** Most rows that are read for one request. */
const maxRows = 200
/** Rows that are read at once. */
const batchSize = 100

/** A page of a list of which the caller may see all, with its cursor sealed. */
export async function unfilteredPage<T>(
  { cursors }: Host,
  scope: CursorScope,
  { cursor, limit }: PageRequest,
  read: ReadPage<T>,
): Promise<Page<T>> {
  const from = cursor === undefined ? {} : { cursor: await cursors.open(cursor, scope) }
  const { items, cursor: next } = await read({ ...from, limit })
  return { items, ...(next !== undefined && { cursor: await cursors.seal(next, scope) }) }
}

/**
 * A page of a list of which the caller may see some rows. It has a cursor only where another visible row follows, or where
 * `mostRows` were read without an end: the number of hidden rows stays hidden up to there.
 *
 * @param show returns what is shown of a row; undefined for one that is hidden
 */
export async function filteredPage<T, U>(
  { cursors }: Host,
  scope: CursorScope,
  { cursor, limit }: PageRequest,
  { read, toItem }: { read: ReadPage<T>; toItem: (row: T) => Promise<U | undefined> },
): Promise<Page<U>> {
  const items: U[] = []
  let from = cursor === undefined ? undefined : await cursors.open(cursor, scope)
  /** The rows up to the last one of a full page. */
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
