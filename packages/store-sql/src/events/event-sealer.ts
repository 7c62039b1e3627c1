import { randomBytes } from 'node:crypto'
import { isAlliumError } from '@allium/core'
import { eventText, type RunKey, type RunSignal } from '@allium/store'
import type { Blobs } from '../blobs/blobs.ts'
import { plainRow, type SealedRow, sealedRow } from '../blobs/sealed-row.ts'
import type { EncryptionContext } from '../encryption.ts'
import { LazyContext } from '../lazy-context.ts'
import type { Sealer } from '../sealer.ts'
import type { EventBatch, StoredSignal } from './event-table.ts'
import { fullEvents, type ShortEvents, shortEvents } from './short-events.ts'

/** A batch and the blobs that it refers to. */
export type SealedBatch = EventBatch & SealedRow

/** Converts the events and signals of a run to bytes and back. */
export class EventSealer {
  readonly #sealer: Sealer
  readonly #blobs: Blobs | undefined

  /** @param blobs the store of the events' bytes @default inside the events */
  constructor(sealer: Sealer, blobs: Blobs | undefined) {
    this.#sealer = sealer
    this.#blobs = blobs
  }

  /** Serializes the values before it awaits anything. @throws AlliumError `state.invalid` */
  sealBatch(run: RunKey, openEvents: readonly unknown[]): SealedBatch | Promise<SealedBatch> | undefined {
    const count = openEvents.length
    if (count === 0) return undefined
    const id = randomBytes(9).toString('base64url')
    const place = eventContext(run, 'events', id)
    const short = shortEvents(run, openEvents)
    const row =
      this.#blobs === undefined
        ? plainRow(this.#sealer, eventText(short), place)
        : sealedRow(this.#sealer, run.key, short, place)
    return row instanceof Promise ? row.then((own) => ({ id, count, ...own })) : { id, count, ...row }
  }

  /** @throws AlliumError `store.sealed`, `store.corrupt` */
  openEvents(run: RunKey, { id, body }: EventBatch): unknown[] | Promise<unknown[]> {
    const place = eventContext(run, 'events', id)
    const short = this.#blobs === undefined ? this.#sealer.open(body, place) : this.#blobs.open(run.key, body, place)
    return short instanceof Promise
      ? short.then((opened) => fullEvents(run, opened as ShortEvents))
      : fullEvents(run, short as ShortEvents)
  }

  async sealSignal(run: RunKey, { steer, id }: RunSignal): Promise<Uint8Array | null> {
    return id === undefined ? null : await this.#sealer.seal(steer, eventContext(run, 'signal', id))
  }

  /**
   * Returns undefined for a steer that can never be opened.
   *
   * @throws AlliumError `store.unavailable` when it cannot be opened now
   */
  async openSignal(run: RunKey, { id, body }: StoredSignal): Promise<RunSignal | undefined> {
    if (id === null || body === null) return { stop: true }
    try {
      const steer = await this.#sealer.open(body, eventContext(run, 'signal', id))
      return { steer, id } as RunSignal
    } catch (error) {
      if (isAlliumError(error, 'store.sealed') || isAlliumError(error, 'store.corrupt')) return undefined
      throw error
    }
  }
}

function eventContext({ key, turnId }: RunKey, kind: 'events' | 'signal', id: string): EncryptionContext {
  return new LazyContext(key.tenant, () => [kind, key.owner, key.agent, key.sessionId, turnId, id])
}
