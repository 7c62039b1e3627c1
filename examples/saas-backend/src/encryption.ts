import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

interface Place {
  readonly tenant: string
  readonly row: string
}

/**
 * AES-256-GCM with a key for each tenant, derived from the secret. Durable runs need it, because a request is stored before any layer
 * redacts it. A key service can also delete the key of one tenant.
 */
export function encryption(secret: string) {
  const keyOf = (tenant: string) => new Uint8Array(hkdfSync('sha256', secret, 'saas-backend', `store ${tenant}`, 32))
  const dataOf = (place: Place) => Buffer.from(JSON.stringify([place.tenant, place.row]))
  return {
    seal(bytes: Uint8Array, place: Place): Uint8Array {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyOf(place.tenant), iv).setAAD(dataOf(place))
      return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
    },
    open(bytes: Uint8Array, place: Place): Uint8Array {
      const [iv, sealed, tag] = [bytes.subarray(0, 12), bytes.subarray(12, -16), bytes.subarray(-16)]
      const decipher = createDecipheriv('aes-256-gcm', keyOf(place.tenant), iv).setAAD(dataOf(place)).setAuthTag(tag)
      return Buffer.concat([decipher.update(sealed), decipher.final()])
    },
  }
}
