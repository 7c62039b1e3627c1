import { isAlliumError } from '@allium/core'
import type { EncryptionContext } from './encryption.ts'
import type { Sealer } from './sealer.ts'

/** A value of a KeyValue as bytes. Its key tells no tenant, so that it is sealed for the tenant `''`. */
export function sealValue(sealer: Sealer, key: string, value: unknown): Promise<Uint8Array> {
  return sealer.seal(value, valueContext(key))
}

/** The value; one that cannot be opened any more is not there, as one whose time is over. */
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
