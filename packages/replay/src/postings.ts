import type { Ledger, LedgerBalance, Reservation } from '@allium/store'
import type { Moments } from './moments.ts'

type Request = Parameters<Ledger['reserve']>[0]

/** Receives what a watched ledger answered. */
export interface AskedLedger {
  reserved(request: Request, held: Reservation | undefined, ledger: Ledger): void
  settled(reservation: Reservation, spent: number): void
}

/** Keeps the answers of ledgers for one turn, with the balance of each account at its first reservation. */
export class Postings implements AskedLedger {
  readonly #moments: Moments
  readonly #reserved = new Set<string>()
  readonly #balances = new Map<string, Promise<LedgerBalance | undefined>>()

  constructor(moments: Moments) {
    this.#moments = moments
  }

  reserved({ id, account, amount, limit }: Request, held: Reservation | undefined, ledger: Ledger): void {
    // Renewals reserve again.
    if (this.#reserved.has(id)) return
    this.#reserved.add(id)
    const refused = held === undefined
    this.#moments.posted({ operation: 'reserve', id, account, amount, limit, ...(refused && { refused }) })
    if (!this.#balances.has(account)) this.#balances.set(account, balanceOf(ledger, account, refused ? 0 : amount))
  }

  settled({ id, account }: Reservation, amount: number): void {
    this.#moments.posted({ operation: 'settle', id, account, amount })
  }

  /** Returns the balances of the accounts before the turn reserved anything. A ledger that fails to tell one has none. */
  async balances(): Promise<ReadonlyMap<string, LedgerBalance | undefined>> {
    const read = [...this.#balances].map(async ([account, reading]) => [account, await reading] as const)
    return new Map(await Promise.all(read))
  }
}

async function balanceOf(ledger: Ledger, account: string, own: number): Promise<LedgerBalance | undefined> {
  try {
    const { spent, reserved } = await ledger.balance(account)
    return { spent, reserved: Math.max(0, reserved - own) }
  } catch {
    return undefined
  }
}
