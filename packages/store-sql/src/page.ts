import { AlliumError, type Page } from '@allium/core'

/** One row more than asked for tells that there is more. */
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
 * Where a page begins: what the cursor of the one before holds, or this where there was none.
 *
 * @throws AlliumError `store.key` where the cursor is of another list
 */
export function parseCursor<T extends readonly (string | number)[]>(cursor: string | undefined, first: T): T {
  if (cursor === undefined) return first
  const parts = parsed(cursor)
  const hasShape = Array.isArray(parts) && parts.length === first.length
  if (hasShape && parts.every((part, i) => isComparable(part, first[i]))) return parts as unknown as T
  throw new AlliumError('store.key', 'The cursor is none of this list. Give the one that came with the last page.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A value of the same type that a database can compare with what it holds. */
function isComparable(part: unknown, sample: unknown): boolean {
  if (typeof part === 'number') return typeof sample === 'number' && Math.abs(part) <= Number.MAX_SAFE_INTEGER
  return typeof part === 'string' && typeof sample === 'string' && !/[\0\ud800-\udfff]/u.test(part)
}
