import type { Page } from '@allium/core'
import type { Host } from '../host.ts'
import type { CursorScope } from '../request/cursors.ts'

/** A page that a client asks for. */
export interface Wanted {
  readonly cursor?: string | undefined
  readonly limit: number
}

/** Reads a page of a store. */
export type ReadPage<T> = (of: { cursor?: string; limit: number }) => Promise<Page<T>>

/** Most rows that are read for one request. */
const mostRows = 200
/** Rows that are read at once. */
const step = 100

/** A page of a list of which the caller may see all, with its cursor sealed. */
export async function wholePage<T>(
  { cursors }: Host,
  scope: CursorScope,
  { cursor, limit }: Wanted,
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
export async function visiblePage<T, U>(
  { cursors }: Host,
  scope: CursorScope,
  { cursor, limit }: Wanted,
  { read, show }: { read: ReadPage<T>; show: (row: T) => Promise<U | undefined> },
): Promise<Page<U>> {
  const items: U[] = []
  let from = cursor === undefined ? undefined : await cursors.open(cursor, scope)
  /** The rows up to the last one of a full page. */
  let full: { cursor?: string; limit: number } | undefined
  const more = async () => {
    const { cursor: next } = full === undefined ? { cursor: from } : await read(full)
    return next === undefined ? { items } : { items, cursor: await cursors.seal(next, scope) }
  }
  for (let rows = 0; rows < mostRows; rows += step) {
    const page = await read(behind(from, step))
    for (const [at, row] of page.items.entries()) {
      const shown = await show(row)
      if (shown === undefined) continue
      if (full !== undefined) return more()
      items.push(shown)
      if (items.length === limit) full = behind(from, at + 1)
    }
    if (page.cursor === undefined) return { items }
    from = page.cursor
  }
  return more()
}

function behind(cursor: string | undefined, limit: number): { cursor?: string; limit: number } {
  return cursor === undefined ? { limit } : { cursor, limit }
}
