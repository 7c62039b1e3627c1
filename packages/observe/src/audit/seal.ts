/** Returns the digest of a text in hexadecimal: SHA-256, or HMAC-SHA-256 with a secret. */
export type Digest = (text: string) => string | Promise<string>

export function digestWith(secret: string | Uint8Array | undefined): Digest {
  const secretBytes =
    typeof secret === 'string' ? bytes(secret) : secret === undefined ? undefined : Uint8Array.from(secret)
  if (secretBytes?.length === 0)
    throw new TypeError('The secret of an audit chain is empty. Pass a non-empty one, or omit it.')
  return nodeDigest(secretBytes) ?? webDigest(secretBytes)
}

/** Node's hashes take microseconds, while WebCrypto uses another thread. */
function nodeDigest(secret: Uint8Array | undefined): Digest | undefined {
  const node = globalThis.process?.getBuiltinModule?.('node:crypto')
  if (node === undefined) return undefined
  const hash = () => (secret === undefined ? node.createHash('sha256') : node.createHmac('sha256', secret))
  return (text) => hash().update(text).digest('hex')
}

/** The digest for runtimes without Node. */
export function webDigest(secretBytes: Uint8Array<ArrayBuffer> | undefined): Digest {
  if (secretBytes === undefined) return async (text) => hex(await crypto.subtle.digest('SHA-256', bytes(text)))
  let key: ReturnType<typeof crypto.subtle.importKey> | undefined
  return async (text) => {
    key ??= crypto.subtle.importKey('raw', secretBytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    return hex(await crypto.subtle.sign('HMAC', await key, bytes(text)))
  }
}

/** Returns the sealed record: the text with its hash. */
export function withHash(text: string, hash: string): string {
  return `${text.slice(0, -1)},"hash":"${hash}"}`
}

/** Parses a sealed record; undefined if the line is not one. */
export function parseSealedLine(line: string): { text: string; hash: string; seq: number; prev: string } | undefined {
  const hash = /,"hash":"([0-9a-f]{64})"\}$/.exec(line)?.[1]
  if (hash === undefined) return undefined
  try {
    const { seq, prev } = JSON.parse(line) as { seq?: unknown; prev?: unknown }
    if (typeof seq !== 'number' || typeof prev !== 'string') return undefined
    return { text: `${line.slice(0, -sealLength)}}`, hash, seq, prev }
  } catch {
    return undefined
  }
}

/** The hash before the first record. */
export const genesis = '0'.repeat(64)
const sealLength = `,"hash":"${genesis}"}`.length

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function hex(buffer: ArrayBuffer): string {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
