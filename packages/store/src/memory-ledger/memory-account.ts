import type { Reservation } from '../ledger.ts'

/** An unsettled reservation. */
export interface Hold {
  readonly reservation: Reservation
  readonly run: string | undefined
  /** When its amount is freed. */
  expiresAt: number
}

const never = Number.POSITIVE_INFINITY

/** An account of `memoryLedger()`: the spent and the reserved amount. */
export class MemoryAccount {
  spent = 0
  reserved = 0
  /** From this time on, the account is no longer used. */
  endsAt = never
  #open: Map<string, Hold> | undefined
  /** Expired holds, which may still be settled. */
  #late: Map<string, Hold> | undefined
  /** A lower bound for the expiry of all open holds. */
  #nextExpiry = never

  /** Whether it has open holds. */
  get isHeld(): boolean {
    return this.#open !== undefined
  }
  /** Whether it has holds that may still be settled. */
  get isOwed(): boolean {
    return this.#open !== undefined || this.#late !== undefined
  }
  get late(): Iterable<Hold> {
    return this.#late?.values() ?? []
  }

  find(id: string): Hold | undefined {
    return this.#open?.get(id) ?? this.#late?.get(id)
  }

  hold(hold: Hold): void {
    this.#open ??= new Map()
    this.#open.set(hold.reservation.id, hold)
    this.reserved += hold.reservation.amount
    this.#nextExpiry = Math.min(this.#nextExpiry, hold.expiresAt)
  }

  /** Extends a hold, even an expired one. */
  renew(hold: Hold, expiresAt: number): void {
    hold.expiresAt = expiresAt
    this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt)
    const { id } = hold.reservation
    if (this.#late?.get(id) !== hold) return
    this.#drop(id)
    this.hold(hold)
  }

  settle({ reservation: { id, amount } }: Hold, spent: number): void {
    this.spent += spent
    if (this.#open?.delete(id) !== true) return this.#drop(id)
    this.reserved -= amount
    this.#closeEmpty()
  }

  /** Frees the amounts of expired holds. */
  free(now: number): void {
    if (now < this.#nextExpiry || this.#open === undefined) return
    this.#nextExpiry = never
    for (const [id, hold] of this.#open) {
      if (hold.expiresAt > now) {
        this.#nextExpiry = Math.min(this.#nextExpiry, hold.expiresAt)
        continue
      }
      this.#open.delete(id)
      this.#late ??= new Map()
      this.#late.set(id, hold)
      this.reserved -= hold.reservation.amount
    }
    this.#closeEmpty()
  }

  #closeEmpty(): void {
    if (this.#open === undefined || this.#open.size > 0) return
    this.#open = undefined
    this.reserved = 0
  }

  #drop(id: string): void {
    this.#late?.delete(id)
    if (this.#late?.size === 0) this.#late = undefined
  }
}
