import { expect, it } from 'vitest'
import { digestWith, webDigest } from '../src/audit/seal.ts'

it.each([undefined, 'a secret', new Uint8Array([1, 2, 255])])(
  'Node and the web give the same digest, with the secret %j',
  async (secret) => {
    const raw = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret && new Uint8Array(secret)
    for (const text of ['', 'Grüße 🧅', 'a'.repeat(10_000)])
      expect(await digestWith(secret)(text)).toBe(await webDigest(raw)(text))
  },
)
