import { isAlliumError, type RunKey, type RunSignal } from '@allium/core'
import type { SealedPlace } from '../encrypt.ts'
import type { Sealer } from '../sealer.ts'
import type { AskedSignal, EventBatch } from './event-table.ts'

/** Events and signals of a run as bytes and back. */
export class EventSealer {
  readonly #sealer: Sealer

  constructor(sealer: Sealer) {
    this.#sealer = sealer
  }

  /** The values are read before anything is awaited. @throws AlliumError `state.invalid` */
  batch(run: RunKey, events: readonly unknown[]): EventBatch | Promise<EventBatch> | undefined {
    const count = events.length
    if (count === 0) return undefined
    const id = crypto.randomUUID()
    const body = this.#sealer.sealed(events, placeOf(run, 'events', id))
    return body instanceof Promise ? body.then((body) => ({ id, count, body })) : { id, count, body }
  }

  /** @throws AlliumError `store.sealed`, `store.corrupt` */
  events(run: RunKey, { id, body }: EventBatch): unknown[] | Promise<unknown[]> {
    return this.#sealer.opened(body, placeOf(run, 'events', id)) as unknown[] | Promise<unknown[]>
  }

  async signal(run: RunKey, { steer, id }: RunSignal): Promise<Uint8Array | null> {
    return id === undefined ? null : await this.#sealer.seal(steer, placeOf(run, 'signal', id))
  }

  /**
   * Returns undefined for a steer that nobody can ever read.
   *
   * @throws AlliumError `store.unavailable` when it cannot be opened now
   */
  async asked(run: RunKey, { id, body }: AskedSignal): Promise<RunSignal | undefined> {
    if (id === null || body === null) return { stop: true }
    try {
      const steer = await this.#sealer.open(body, placeOf(run, 'signal', id))
      return { steer, id } as RunSignal
    } catch (error) {
      if (isAlliumError(error, 'store.sealed') || isAlliumError(error, 'store.corrupt')) return undefined
      throw error
    }
  }
}

function placeOf({ key, turnId }: RunKey, kind: 'events' | 'signal', id: string): SealedPlace {
  return {
    tenant: key.tenant,
    // Asked for only where a store seals, or where something is wrong.
    get row() {
      return JSON.stringify([kind, key.owner, key.agent, key.sessionId, turnId, id])
    },
  }
}
