import { isAlliumError } from '@allium/core'
import type { EncryptionContext } from './encryption.ts'
import type { Sealer } from './sealer.ts'

/** Seals a value of a KeyValue. Its key contains no tenant, so it is sealed for the tenant `''`. */
export function sealValue(sealer: Sealer, key: string, value: unknown): Promise<Uint8Array> {
  return sealer.seal(value, valueContext(key))
}

/** Returns the value; undefined if it can no longer be opened, as if it had expired. */
export async function openValue(sealer: Sealer, key: string, bytes: Uint8Array): Promise<unknown> {
  try {
    return await sealer.open(bytes, valueContext(key))
  } catch (error) {
    if (isAlliumError(error, 'store.sealed')) return undefined
    throw error
  }
}

function valueContext(key: string): EncryptionContext {
  return { tenant: '', row: JSON.stringify(['value', key]) }
}
