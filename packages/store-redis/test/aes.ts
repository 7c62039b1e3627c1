import type { Encryption, EncryptionContext } from '../src/index.ts'

/** AES-GCM under one key, bound to the place. */
export function aes(): Encryption {
  const key = crypto.subtle.importKey('raw', new Uint8Array(32).fill(7), 'AES-GCM', false, ['encrypt', 'decrypt'])
  const bound = (place: EncryptionContext, iv: Uint8Array<ArrayBuffer>) => ({
    name: 'AES-GCM',
    iv,
    additionalData: new TextEncoder().encode(JSON.stringify(place)),
  })
  return {
    async seal(bytes, place) {
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const sealed = await crypto.subtle.encrypt(bound(place, iv), await key, new Uint8Array(bytes))
      return Buffer.concat([iv, new Uint8Array(sealed)])
    },
    async open(bytes, place) {
      const own = new Uint8Array(bytes)
      return new Uint8Array(await crypto.subtle.decrypt(bound(place, own.slice(0, 12)), await key, own.slice(12)))
    },
  }
}
