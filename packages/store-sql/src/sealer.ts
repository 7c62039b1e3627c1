import { createHash } from 'node:crypto'
import { AlliumError, fromJson, messageOf, toJson } from '@allium/core'
import type { Encrypt, SealedPlace } from './encrypt.ts'

/** Values as bytes of a row and back, sealed where the store encrypts. */
export class Sealer {
  readonly #encrypt: Encrypt | undefined

  constructor(encrypt?: Encrypt) {
    this.#encrypt = encrypt
  }

  /** Whether bytes are sealed at all. */
  get encrypts(): boolean {
    return this.#encrypt !== undefined
  }

  /** @throws AlliumError `state.invalid` where the value cannot be kept */
  async seal(value: unknown, place: SealedPlace): Promise<Uint8Array> {
    return this.sealed(value, place)
  }

  /** The same at once where the store does not encrypt. */
  sealed(value: unknown, place: SealedPlace): Uint8Array | Promise<Uint8Array> {
    const bytes = encoder.encode(toJson(value))
    return this.#encrypt === undefined ? bytes : sealedBy(this.#encrypt, bytes, place)
  }

  /** @throws AlliumError `store.sealed` where it cannot be opened, `store.corrupt` where what was kept does not parse */
  async open(bytes: Uint8Array, place: SealedPlace): Promise<unknown> {
    return this.opened(bytes, place)
  }

  /** The same at once where the store does not encrypt. */
  opened(bytes: Uint8Array, place: SealedPlace): unknown {
    if (this.#encrypt === undefined) return parsed(bytes, place)
    return this.#opened(this.#encrypt, bytes, place).then((plain) => parsed(plain, place))
  }

  /** Digests of a text by which it is found again: the first is written, any matches. */
  async digests(text: string, tenant: string): Promise<string[]> {
    const bytes = new TextEncoder().encode(text)
    const made = (await this.#encrypt?.mac?.(bytes, { tenant })) ?? (await sha256(bytes))
    const all = made instanceof Uint8Array ? [made] : [...made]
    return all.map((one) => Buffer.from(one).toString('base64url'))
  }

  async #opened(encrypt: Encrypt, bytes: Uint8Array, place: SealedPlace): Promise<Uint8Array> {
    try {
      return await encrypt.open(bytes, place)
    } catch (cause) {
      throw new AlliumError(
        'store.sealed',
        `The row ${place.row} of the tenant "${place.tenant}" cannot be opened: its key is gone, or it was changed.`,
        { cause, details: { tenant: place.tenant, row: place.row } },
      )
    }
  }
}

async function sealedBy(encrypt: Encrypt, bytes: Uint8Array, place: SealedPlace): Promise<Uint8Array> {
  return encrypt.seal(bytes, place)
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

function parsed(bytes: Uint8Array, place: SealedPlace): unknown {
  try {
    return fromJson(decoder.decode(bytes))
  } catch (error) {
    throw corrupt(place, error)
  }
}

/** What was kept at a place does not parse. */
export function corrupt({ tenant, row }: SealedPlace, cause: unknown): AlliumError {
  return new AlliumError(
    'store.corrupt',
    `The row ${row} of the tenant "${tenant}" does not parse: ${messageOf(cause)} The others go on.`,
    { cause, details: { tenant, row } },
  )
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return createHash('sha256').update(bytes).digest()
}
