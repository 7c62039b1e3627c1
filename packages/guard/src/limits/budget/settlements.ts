import { messageOf, type TurnView } from '@allium/core'
import type { Ledger, Reservation } from '@allium/store'

type Logger = TurnView['logger']

interface Settlement {
  readonly ledger: Ledger
  readonly reservation: Reservation
  readonly spent: number
  /** Whether the ledger may post it with the end of the turn. */
  readonly canWait: boolean
}

/** The maximum number of pending settlements. Above it, calls fail. */
const maxPending = 1_000

/**
 * Posts what calls have spent. A settlement that the ledger rejects is retried with the next call, at the end of the run, and when
 * the agent is disposed. Ledgers count a reservation once, so a retry posts nothing twice.
 */
export class Settlements {
  readonly #pending = new Map<string, Settlement>()
  readonly #layer: string
  #retrying: Promise<void> | undefined
  #error: unknown

  constructor(layer: string) {
    this.#layer = layer
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0
  }

  /** Resolves once it is posted, or kept for a retry. */
  async settle(settlement: Settlement, logger: Logger): Promise<void> {
    const { ledger, reservation, spent, canWait } = settlement
    try {
      await ledger[canWait ? 'settleSoon' : 'settle']?.(reservation, spent)
    } catch (error) {
      this.#error = error
      this.#pending.set(reservation.id, settlement)
      logger.warn(`${this.#failureText(1, error)} It is retried with the next call and at the end of the run.`, {
        error,
      })
    }
  }

  /** Retries all pending settlements and keeps those that fail again. Returns undefined if none are pending. */
  retry(): Promise<void> | undefined {
    if (this.isEmpty) return undefined
    this.#retrying ??= this.#retryAll().finally(() => (this.#retrying = undefined))
    return this.#retrying
  }

  /** @throws the ledger's error when too many settlements are pending */
  async beforeCall(): Promise<void> {
    await this.retry()
    if (this.#pending.size >= maxPending) throw this.#error
  }

  /** Retries one last time. */
  async end(logger: Logger): Promise<void> {
    await this.retry()
    if (this.isEmpty) return
    const lost = [...this.#pending.values()].map(({ reservation: { id, account }, spent }) => ({ id, account, spent }))
    logger.error(`${this.#failureText(lost.length, this.#error)} The agent is disposed, so post them manually.`, {
      error: this.#error,
      lost,
    })
  }

  async #retryAll(): Promise<void> {
    const failing = new Set<Ledger>()
    for (const [id, { ledger, reservation, spent }] of [...this.#pending]) {
      if (failing.has(ledger)) continue
      try {
        await ledger.settle(reservation, spent)
        this.#pending.delete(id)
      } catch (error) {
        this.#error = error
        failing.add(ledger)
      }
    }
  }

  #failureText(count: number, error: unknown): string {
    return `"${this.#layer}" could not post the cost of ${count === 1 ? 'a call' : `${count} calls`}: ${messageOf(error).replace(/\.$/, '')}.`
  }
}
