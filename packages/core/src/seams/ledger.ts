import type { Writer } from './writer.ts'

/** An account's room and what is taken of it. Amounts are in the account's own unit: USD, tokens. */
export interface Reservation {
  readonly id: string
  readonly account: string
  readonly amount: number
}

export interface LedgerBalance {
  /** Settled for good. */
  spent: number
  /** Held by reservations that are neither settled nor over. */
  reserved: number
}

/**
 * Where money is counted: reserve before a call, settle after it. Both are atomic, and both are idempotent by
 * reservation id, so that a replayed step posts nothing twice.
 */
export interface Ledger {
  /** Takes `amount` if `spent + reserved + amount <= limit`; otherwise gives `undefined` and takes nothing. */
  reserve(request: {
    id: string
    account: string
    amount: number
    limit: number
    /** Milliseconds from now after which nobody asks for the account any more: it may be forgotten then. @default it never ends */
    endsIn?: number
    /**
     * Milliseconds from now after which its room is free, where nobody has settled it; who settles it later posts all the same.
     * The same reservation again holds it so long from then on, whatever room there is. @default never
     */
    ttl?: number
    /** For whom it is: `holds()` finds it by that. No other tenant's is the same. @default nobody finds it */
    run?: string
    /** For whose run it is: after that owner was erased the ledger knows the reservation by digests alone. What was spent stays. */
    by?: Writer
  }): Reservation | undefined | Promise<Reservation | undefined>
  /** Turns a reservation into what was really spent, which may be more, less or 0. */
  settle(reservation: Reservation, spent: number): void | Promise<void>
  balance(account: string): LedgerBalance | Promise<LedgerBalance>
  /** Reservations of a run that nobody has settled, those that are over among them: its process may be lost. */
  holds?(run: string): readonly Reservation[] | Promise<readonly Reservation[]>
  /** Nobody will ask for the account any more: it may be forgotten, once its reservations are settled. */
  close?(account: string): void | Promise<void>
}
