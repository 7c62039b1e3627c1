import { isPlainObject } from '../messages/json.ts'
import { base64url, digestOf } from './seal.ts'

/**
 * Returns the digest of a value that may contain images. Bytes and very long texts are replaced by their own digests, computed on another
 * thread. Equals {@link digestOf} for a value without them.
 */
export async function contentDigestOf(value: unknown): Promise<string> {
  const large = largeIn(value)
  if (large.length === 0) return digestOf(value)
  const digests = new Map<unknown, string>()
  for (const one of new Set(large)) {
    const bytes = typeof one === 'string' ? new TextEncoder().encode(one) : new Uint8Array(one)
    digests.set(one, base64url(await crypto.subtle.digest('SHA-256', bytes)))
  }
  return digestOf(withDigests(value, digests))
}

/** Returns the bytes in a value, and texts of more than a million characters, such as base64 images. */
function largeIn(value: unknown): (Uint8Array | string)[] {
  if (typeof value === 'string' && value.length > 1e6) return [value]
  if (typeof value !== 'object' || value === null) return []
  if (value instanceof Uint8Array) return [value]
  return Array.isArray(value) || isPlainObject(value) ? Object.values(value).flatMap(largeIn) : []
}

/** Replaces bytes by digests in a copy. A value without any stays the same object, whose digest may be cached. */
function withDigests(value: unknown, digests: ReadonlyMap<unknown, string>): unknown {
  if (digests.has(value)) return { [typeof value]: digests.get(value) }
  if (largeIn(value).length === 0) return value
  if (Array.isArray(value)) return value.map((item) => withDigests(item, digests))
  return Object.fromEntries(Object.entries(value as object).map(([key, item]) => [key, withDigests(item, digests)]))
}
