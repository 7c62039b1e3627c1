/** Masks a value but keeps a recognizable part: the last digits, or the first letter of an address. */
export function maskOf(type: string, value: string): string {
  if (type === 'email') {
    const at = value.search(/[@\uff20\ufe6b]/)
    return `${[...value][0]}***${value.slice(at)}`
  }
  if (type === 'api_key' || value.length <= 8) return '****'
  let shown = 4
  const chars = [...value].reverse().map((char) => (!/[\p{L}\p{N}]/u.test(char) || shown-- > 0 ? char : '*'))
  return chars.reverse().join('')
}

/** Returns `[EMAIL:3f2a9c01b7d4]`: the same for the same value and secret, by HMAC-SHA-256. */
export async function hashOf(secret: string, type: string, value: string): Promise<string> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(secret), hmac, false, ['sign'])
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(`${type}:${value}`)))
  const hex = Array.from(digest.slice(0, 6), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `[${type.toUpperCase()}:${hex}]`
}

const bytes = (text: string) => new TextEncoder().encode(text)
