import { canonicalJson, isPlainObject } from '../messages/json.ts'

/**
 * Returns the SHA-256 of a JSON-like value in base64url, for keys and comparisons. Key order does not matter, and bytes count. Lists
 * of messages are hashed per message, so that a long history is hashed only once.
 */
export async function digestOf(value: unknown): Promise<string> {
  const lists = new Map<object, string>()
  for (const list of listsIn(value)) {
    const digests = list.map(ofMessage)
    lists.set(list, (digests.every(isMade) ? digests : await Promise.all(digests)).join(''))
  }
  return shaOf(canonicalJson(withLists(value, lists)))
}

/** Returns the HMAC-SHA-256 of a JSON-like value. Without a secret it returns the digest, which detects changes but not forgery. */
export async function sealOf(value: unknown, secrets: Secrets): Promise<string> {
  const secret = typeof secrets === 'string' ? secrets : secrets?.[0]
  if (secret === undefined) return digestOf(value)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign'])
  return base64url(await crypto.subtle.sign('HMAC', key, bytesOf(value)))
}

/** The secrets of seals. The first one seals. */
export type Secrets = string | readonly string[] | undefined

/** Whether a seal matches a value under any of the secrets. */
export async function isSealOf(seal: string, value: unknown, secrets: Secrets): Promise<boolean> {
  for (const secret of Array.isArray(secrets) ? secrets : [secrets])
    if (sameSeal(seal, await sealOf(value, secret))) return true
  return false
}

/** Compares two seals in constant time. */
export function sameSeal(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** Digests of messages that can no longer change. */
const known = new WeakMap<object, string>()

/** Returns the same digest for equal messages, frozen or not. */
function ofMessage(message: object): string | Promise<string> {
  const before = known.get(message)
  if (before !== undefined) return before
  const digest = shaOf(canonicalJson(message))
  if (!isDeepFrozen(message)) return digest
  if (typeof digest === 'string') known.set(message, digest)
  else void digest.then((made) => known.set(message, made))
  return digest
}

function isMade(digest: string | Promise<string>): digest is string {
  return typeof digest === 'string'
}

/** Whether nothing in it can change. Bytes, dates and URLs are mutable. */
export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (!Object.isFrozen(value) || !(Array.isArray(value) || isPlainObject(value))) return false
  return Object.values(value).every(isDeepFrozen)
}

/** Returns the lists of messages in a value, except those inside messages. */
function listsIn(value: unknown): (readonly object[])[] {
  if (typeof value !== 'object' || value === null) return []
  if (isMessages(value)) return [value]
  return Array.isArray(value) || isPlainObject(value) ? Object.values(value).flatMap(listsIn) : []
}

/** Marks lists with a key that starts with NUL. Real keys that start with NUL get another NUL, so that no value can look like a list. */
function withLists(value: unknown, lists: ReadonlyMap<object, string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const digests = lists.get(value)
  if (digests !== undefined) return { '\0messages': digests }
  if (Array.isArray(value)) return value.map((item) => withLists(item, lists))
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value).map(([key, item]) => [
    key.startsWith('\0') ? `\0${key}` : key,
    withLists(item, lists),
  ])
  return Object.fromEntries(entries)
}

function isMessages(value: object): value is readonly object[] {
  return Array.isArray(value) && value.length > 0 && value.every(isMessage)
}

function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { role, content } = value as { role?: unknown; content?: unknown }
  return typeof role === 'string' && (typeof content === 'string' || Array.isArray(content))
}

function shaOf(text: string): string | Promise<string> {
  const node = nodeCrypto()
  if (node?.hash !== undefined) return node.hash('sha256', text, 'base64url')
  return crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)).then(base64url)
}

/** Returns Node's crypto, whose hash takes a microsecond; WebCrypto goes through another thread. Undefined on other runtimes. */
function nodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: 'crypto'): NodeCrypto } }
  return process?.getBuiltinModule?.('crypto')
}

interface NodeCrypto {
  /** Other runtimes that have the module may lack it. */
  hash?(algorithm: 'sha256', text: string, form: 'base64url'): string
}

function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonicalJson(value))
}

export function base64url(bytes: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
