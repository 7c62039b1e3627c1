import { canonicalJson } from '../messages/json.ts'

/** The SHA-256 of a JSON-like value, in base64url: for keys and comparisons. The order of its keys does not matter, and bytes count. */
export async function digestOf(value: unknown): Promise<string> {
  const node = nodeCrypto()
  if (node !== undefined) return node.createHash('sha256').update(bytesOf(value)).digest('base64url')
  return base64url(await crypto.subtle.digest('SHA-256', bytesOf(value)))
}

/** The HMAC-SHA-256 of a JSON-like value under a secret; without one its digest, which shows a change but no forgery. */
export async function sealOf(value: unknown, secret: string | undefined): Promise<string> {
  if (secret === undefined) return digestOf(value)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign'])
  return base64url(await crypto.subtle.sign('HMAC', key, bytesOf(value)))
}

/** Whether two seals are equal, in a time that does not tell where they differ. */
export function sameSeal(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** Node's own hash takes microseconds, where WebCrypto goes by another thread. Elsewhere there is none. */
function nodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: 'crypto'): NodeCrypto } }
  return process?.getBuiltinModule?.('crypto')
}

interface NodeCrypto {
  createHash(algorithm: 'sha256'): { update(bytes: Uint8Array): { digest(form: 'base64url'): string } }
}

function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonicalJson(value))
}

function base64url(bytes: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
