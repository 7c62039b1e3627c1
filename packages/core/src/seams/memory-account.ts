import type { Reservation } from './ledger.ts'

/** A reservation that nobody has settled. */
export interface Hold {
  readonly reservation: Reservation
  readonly run: string | undefined
  /** From then on its room is free. */
  expiresAt: number
}

const never = Number.POSITIVE_INFINITY

/** An account of `memoryLedger()`: what is spent, and what is held. */
export class MemoryAccount {
  spent = 0
  reserved = 0
  /** From then on nobody asks for it. */
  endsAt = never
  #open: Map<string, Hold> | undefined
  /** Those that are over, and may still be settled. */
  #late: Map<string, Hold> | undefined
  /** None of the open ones is over before. */
  #nextExpiry = never

  /** Whether something is held. */
  get isHeld(): boolean {
    return this.#open !== undefined
  }
  /** Whether somebody may still settle something. */
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

  /** It holds until then, also where it was over. */
  renew(hold: Hold, expiresAt: number): void {
    hold.expiresAt = expiresAt
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

  /** Frees the room of what is over. */
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
