import { type Ledger, type LedgerBalance, memoryLedger, type Reservation } from '@allium/store'
import type { RecordedPosting } from '../recorded-turn.ts'

type Request = Parameters<Ledger['reserve']>[0]

/**
 * Answers what a ledger answered when the turn was recorded. A request with another amount or limit is answered from the recorded balance
 * of its account. An account that the recording does not have is new.
 */
export class ReplayLedger implements Ledger {
  readonly #postings: readonly RecordedPosting[]
  readonly #used = new Set<RecordedPosting>()
  readonly #before = new Map<string, LedgerBalance>()
  readonly #own = memoryLedger()
  readonly #nameOf: (account: string) => string

  /** @param nameOf returns the name of an account in the recording, which may contain the id of the session */
  constructor(postings: readonly RecordedPosting[], nameOf: (account: string) => string) {
    this.#postings = postings
    this.#nameOf = nameOf
    for (const { account, balance } of postings) if (balance !== undefined) this.#before.set(account, balance)
  }

  async reserve(request: Request): Promise<Reservation | undefined> {
    const account = this.#nameOf(request.account)
    const recorded = this.#recordedFor({ ...request, account })
    if (recorded !== undefined) this.#used.add(recorded)
    const { spent, reserved } = this.#of(account)
    // What others have spent and hold is not in the own ledger.
    const room = request.limit - spent - reserved
    const limit = recorded === undefined ? room : recorded.refused === true ? -1 : Number.MAX_SAFE_INTEGER
    const held = await this.#own.reserve({ id: request.id, account, amount: request.amount, limit })
    return held && { ...held, account: request.account }
  }

  async settle(reservation: Reservation, spent: number): Promise<void> {
    await this.#own.settle({ ...reservation, account: this.#nameOf(reservation.account) }, spent)
  }

  async balance(given: string): Promise<LedgerBalance> {
    const account = this.#nameOf(given)
    const [before, own] = [this.#of(account), await this.#own.balance(account)]
    return { spent: before.spent + own.spent, reserved: before.reserved + own.reserved }
  }

  /** A replay never continues a run whose process was lost. */
  holds(): readonly Reservation[] {
    return []
  }

  #of(account: string): LedgerBalance {
    return this.#before.get(account) ?? { spent: 0, reserved: 0 }
  }

  /** Rates have random ids, so the next reservation of the account counts. */
  #recordedFor({ account, amount, limit }: Request): RecordedPosting | undefined {
    return this.#postings.find(
      (posting) =>
        posting.operation === 'reserve' &&
        posting.account === account &&
        posting.amount === amount &&
        posting.limit === limit &&
        !this.#used.has(posting),
    )
  }
}
