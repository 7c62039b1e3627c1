import { isAlliumError } from '@allium/core'
import type { SealedPlace } from './encrypt.ts'
import type { Sealer } from './sealer.ts'

/** A value of a KeyValue as bytes. Its key tells no tenant, so that it is sealed for the tenant `''`. */
export function sealedValue(sealer: Sealer, key: string, value: unknown): Promise<Uint8Array> {
  return sealer.seal(value, placeOf(key))
}

/** The value; one that cannot be opened any more is not there, as one whose time is over. */
export async function openedValue(sealer: Sealer, key: string, bytes: Uint8Array): Promise<unknown> {
  try {
    return await sealer.open(bytes, placeOf(key))
  } catch (error) {
    if (isAlliumError(error, 'store.sealed')) return undefined
    throw error
  }
}

function placeOf(key: string): SealedPlace {
  return { tenant: '', row: JSON.stringify(['value', key]) }
}
