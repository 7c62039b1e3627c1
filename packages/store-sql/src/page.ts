import { AlliumError } from '@allium/core'
import type { Page } from '@allium/store'

/** The query reads one row more than the limit, which shows whether there is another page. */
export function toPage<R, T>(
  rows: readonly R[],
  limit: number,
  cursorAt: (row: R) => readonly (string | number)[],
  toItem: (row: R) => T,
): Page<T> {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const items = page.map(toItem)
  return last !== undefined && rows.length > limit ? { items, cursor: JSON.stringify(cursorAt(last)) } : { items }
}

/**
 * Returns where a page begins: the values in the previous page's cursor, or `first` without a cursor.
 *
 * @throws AlliumError `store.key` when the cursor belongs to another list
 */
export function parseCursor<T extends readonly (string | number)[]>(cursor: string | undefined, first: T): T {
  if (cursor === undefined) return first
  const parts = parsed(cursor)
  const hasShape = Array.isArray(parts) && parts.length === first.length
  if (hasShape && parts.every((part, i) => isComparable(part, first[i]))) return parts as unknown as T
  throw new AlliumError('store.key', 'Invalid cursor. Pass the cursor returned with the previous page.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether the part has the sample's type and is comparable in a database. */
function isComparable(part: unknown, sample: unknown): boolean {
  if (typeof part === 'number') return typeof sample === 'number' && Math.abs(part) <= Number.MAX_SAFE_INTEGER
  return typeof part === 'string' && typeof sample === 'string' && !/[\0\ud800-\udfff]/u.test(part)
}
