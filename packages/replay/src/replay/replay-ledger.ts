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

  constructor(postings: readonly RecordedPosting[]) {
    this.#postings = postings
    for (const { account, balance } of postings) if (balance !== undefined) this.#before.set(account, balance)
  }

  async reserve(request: Request): Promise<Reservation | undefined> {
    const { id, account, amount } = request
    const recorded = this.#recordedFor(request)
    if (recorded !== undefined) this.#used.add(recorded)
    const { spent, reserved } = this.#of(account)
    // What others have spent and hold is not in the own ledger.
    const room = request.limit - spent - reserved
    const limit = recorded === undefined ? room : recorded.refused === true ? -1 : Number.MAX_SAFE_INTEGER
    return this.#own.reserve({ id, account, amount, limit })
  }

  async settle(reservation: Reservation, spent: number): Promise<void> {
    await this.#own.settle(reservation, spent)
  }

  async balance(account: string): Promise<LedgerBalance> {
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
