import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const key = Buffer.alloc(32, 7)

/** AES-256-GCM with one key for all tenants. */
export const encrypt = {
  seal(bytes, { tenant, row }) {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(`${tenant}\n${row}`))
    const body = Buffer.concat([cipher.update(bytes), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), body])
  },
  open(bytes, { tenant, row }) {
    const sealed = Buffer.from(bytes)
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
    decipher.setAAD(Buffer.from(`${tenant}\n${row}`)).setAuthTag(sealed.subarray(12, 28))
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()])
  },
}
