import { AlliumError } from '@allium/core'

/** The encryption of a store. */
export interface Seals {
  seal(bytes: Uint8Array, place: { tenant: string; row: string }): Uint8Array | Promise<Uint8Array>
  open(bytes: Uint8Array, place: { tenant: string; row: string }): Uint8Array | Promise<Uint8Array>
}

/** The encryption of a suite, whose key service fails on demand. */
export class FailingSeals implements Seals {
  /** How opening fails: the service is temporarily down, or the key was deleted. */
  failure: 'down' | 'gone' | undefined
  /** Selects the rows that fail. */
  rows: (row: string) => boolean = () => true

  seal(bytes: Uint8Array): Uint8Array {
    return bytes.map((byte) => byte ^ 0x5a)
  }

  /** A deleted key fails at once, as `node:crypto` does, and a key service that is down later. */
  open(bytes: Uint8Array, { row }: { row: string }): Uint8Array | Promise<Uint8Array> {
    if (this.failure === undefined || !this.rows(row)) return this.seal(bytes)
    if (this.failure === 'gone') throw new AlliumError('store.sealed', 'The key of the tenant was deleted.')
    return Promise.reject(new Error('The key service does not answer.'))
  }
}
