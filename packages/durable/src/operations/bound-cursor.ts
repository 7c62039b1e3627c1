import { AlliumError } from '@allium/core'
import type { Page } from '@allium/store'

/**
 * Reads a page whose cursor continues only the same list.
 *
 * @param filter the conditions of the list
 * @throws AlliumError `store.key` for a cursor of another list
 */
export async function boundPage<T>(
  filter: object,
  cursor: string | undefined,
  read: (cursor: { cursor?: string }) => Promise<Page<T>>,
): Promise<Page<T>> {
  const tag = await tagOf(filter)
  if (cursor !== undefined && !cursor.startsWith(tag))
    throw new AlliumError(
      'store.key',
      'Invalid cursor. Pass the cursor returned with the previous page of the same list.',
    )
  const { items, cursor: next } = await read(cursor === undefined ? {} : { cursor: cursor.slice(tag.length) })
  return { items, ...(next !== undefined && { cursor: tag + next }) }
}

/** Returns a short digest of a filter. The order of its fields does not matter. */
async function tagOf(filter: object): Promise<string> {
  const fields = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(fields)))
  const bytes = [...new Uint8Array(digest).subarray(0, 8)]
  return `${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}.`
}
