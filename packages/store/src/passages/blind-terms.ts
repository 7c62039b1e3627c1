import { AlliumError } from '@allium/core'

/**
 * Returns a digest for each term under the key of its owner: 64 bits of an HMAC-SHA-256, as 16 hexadecimal digits. The index has only
 * digests, so that the same word has no relation at two owners, and none without the key.
 *
 * @param key from `key()` of a `PassageStore`
 * @throws AlliumError `layer.config` where `node:crypto` is missing
 */
export function blindTerms(key: Uint8Array, terms: readonly string[]): string[] {
  const { createHmac } = loadCrypto()
  return terms.map((term) => createHmac('sha256', key).update(term).digest('hex').slice(0, 16))
}

/** Loaded at run time, so that the package bundles for runtimes without it. */
function loadCrypto() {
  const crypto = globalThis.process?.getBuiltinModule?.('node:crypto')
  if (crypto === undefined)
    throw new AlliumError('layer.config', 'Recall needs the module node:crypto. Run it on Node.js.')
  return crypto
}
