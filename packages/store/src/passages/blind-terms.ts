import { createHmac } from 'node:crypto'

/**
 * Returns a digest for each term under the key of its owner: 64 bits of an HMAC-SHA-256, as 16 hexadecimal digits. The index has only
 * digests, so that the same word has no relation at two owners, and none without the key.
 *
 * @param key from `key()` of a `PassageStore`
 */
export function blindTerms(key: Uint8Array, terms: readonly string[]): string[] {
  return terms.map((term) => createHmac('sha256', key).update(term).digest('hex').slice(0, 16))
}
