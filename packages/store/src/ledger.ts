import type { Writer } from '@allium/core'
/** An amount reserved in an account, in the account's unit: USD or tokens. */
export interface Reservation {
  readonly id: string
  readonly account: string
  readonly amount: number
}

export interface LedgerBalance {
  /** The settled amount. */
  spent: number
  /** The amount held by reservations that are neither settled nor expired. */
  reserved: number
}

/**
 * Accounts for money: reserve before a call, settle after it. Both operations are atomic and idempotent by reservation id, so a
 * replayed step posts nothing twice.
 */
export interface Ledger {
  /** Reserves `amount` if `spent + reserved + amount <= limit`. Otherwise returns `undefined` and reserves nothing. */
  reserve(request: {
    id: string
    account: string
    amount: number
    limit: number
    /** Milliseconds from now after which the account is no longer used, so that the ledger may forget it. @default never */
    endsIn?: number
    /**
     * Milliseconds from now after which an unsettled reservation frees its amount. A later settlement is still posted.
     * Reserving again with the same id renews this time, even if the account is over its limit. @default never
     */
    ttl?: number
    /** The run that reserves, for `holds()`. Must be unique across tenants. @default `holds()` does not find the reservation */
    run?: string
    /** The run that asks, if it does not own the reservation: `holds()` does not find it. Only for ledgers that watch another one. */
    asker?: string | undefined
    /** The owner of the run. After an erasure of the owner, the ledger keeps only digests of the reservation. The spent amount stays. */
    by?: Writer
  }): Reservation | undefined | Promise<Reservation | undefined>
  /** Replaces a reservation with the amount that was spent, which may be more, less or 0. */
  settle(reservation: Reservation, spent: number): void | Promise<void>
  /**
   * Like `settle`, but may wait up to 50 ms for the next write of the store, to share its transaction. A turn that is stored in that time
   * is stored with the settlement or after it. This process sees the amount at once, others once it is posted. @default `settle()` is used
   */
  settleSoon?(reservation: Reservation, spent: number): Promise<void>
  balance(account: string): LedgerBalance | Promise<LedgerBalance>
  /** Returns the unsettled reservations of a run, including expired ones. They remain if the run's process is lost. */
  holds?(run: string): readonly Reservation[] | Promise<readonly Reservation[]>
  /** Marks an account as no longer used. The ledger may forget it once its reservations are settled. */
  close?(account: string): void | Promise<void>
}
