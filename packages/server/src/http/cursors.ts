import { requestError } from './problem.ts'

/** Where a cursor is valid: a list of one route, as one caller sees it. */
export type CursorScope = readonly (string | null)[]

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/**
 * Seals the cursors of a server's lists, so that a client can neither read nor forge one: a store's cursor contains ids.
 * Uses AES-GCM with a key derived from the option `secret`, or else with a random key of this process.
 */
export class Cursors {
  readonly #secret: string | undefined
  #keyPromise: Promise<Key> | undefined

  constructor(secret: string | undefined) {
    this.#secret = secret
  }

  async seal(cursor: string, scope: CursorScope): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(ivLength))
    const sealed = await crypto.subtle.encrypt(cipher(iv, scope), await this.#key(), padded(cursor))
    return toBase64url(new Uint8Array([...iv, ...new Uint8Array(sealed)]))
  }

  /** @throws AlliumError `request.invalid` for a cursor of another list, caller or key */
  async open(sealed: string, scope: CursorScope): Promise<string> {
    try {
      const bytes = fromBase64url(sealed)
      const [iv, body] = [bytes.slice(0, ivLength), bytes.slice(ivLength)]
      const decrypted = await crypto.subtle.decrypt(cipher(iv, scope), await this.#key(), body)
      return JSON.parse(new TextDecoder().decode(decrypted)) as string
    } catch {
      throw requestError('request.invalid', invalidCursor, { field: 'cursor' })
    }
  }

  /** Created with the first cursor, because some runtimes allow no random bytes before the first request. */
  #key(): Promise<Key> {
    return (this.#keyPromise ??= this.#secret === undefined ? randomKey() : keyOf(this.#secret))
  }
}

const ivLength = 12

const invalidCursor =
  'The query parameter `cursor` does not belong to this list. Start again with the first page. If several processes serve the list, give them the same `secret`.'

function cipher(iv: Uint8Array<ArrayBuffer>, scope: CursorScope) {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(JSON.stringify(scope)) }
}

/** Pads with spaces, which JSON allows, so that the length of a cursor says little about the ids in it. */
function padded(cursor: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(JSON.stringify(cursor))
  const all = new Uint8Array(Math.ceil(bytes.length / 256) * 256).fill(0x20)
  all.set(bytes)
  return all
}

function randomKey(): Promise<Key> {
  return crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

/** Derives a key for cursors. Another use of the secret gets another key. */
async function keyOf(secret: string): Promise<Key> {
  const bytes = new TextEncoder()
  const base = await crypto.subtle.importKey('raw', bytes.encode(secret), 'HKDF', false, ['deriveKey'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: bytes.encode('allium server cursor') }
  return crypto.subtle.deriveKey(hkdf, base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

function toBase64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
}
