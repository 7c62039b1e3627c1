import type { Page } from '@allium/store'
import { check } from '../check.ts'

/** Returns all items over pages of `limit`; `between` is called after each page except the last. */
export async function allPages<T>(
  limit: number,
  page: (of: { cursor?: string; limit: number }) => Promise<Page<T>>,
  between: () => Promise<void> = async () => {},
): Promise<T[]> {
  const all: T[] = []
  let of: { cursor?: string; limit: number } = { limit }
  for (;;) {
    const { items, cursor } = await page(of)
    check(items.length <= limit, `A page has at most the requested number of items: ${limit}, but had ${items.length}`)
    all.push(...items)
    if (cursor === undefined) return all
    check(items.length > 0, 'A page with a cursor has an item, and is not the last one')
    check(all.length < 1000, 'The last page has no cursor')
    of = { cursor, limit }
    await between()
  }
}

/** Returns the items of a page for a foreign cursor, which may also be rejected. */
export async function pageOrNothing<T>(page: Promise<Page<T>>): Promise<readonly T[]> {
  return (await page.catch(() => ({ items: [] }))).items
}
