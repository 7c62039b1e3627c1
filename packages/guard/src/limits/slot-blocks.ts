import type { Clock } from '@allium/core'
import type { Ledger, Reservation } from '@allium/store'

/** The maximum number of slots in a block. */
const maxBlock = 64
/** A block takes at most this fraction of the slots that are left in its window. */
const blockShare = 1 / 8
/** The longest time that a process keeps unused slots, in milliseconds. */
const longestLease = 1_000
/** Leases are short compared with the window, because other processes cannot use the slots of a block. */
const leasesPerWindow = 60

type SlotRequest = Omit<Parameters<Ledger['reserve']>[0], 'id' | 'amount'>

interface Block {
  /** The hold of all slots of the block; undefined if it was refused. */
  readonly held: Promise<Reservation | undefined>
  free: number
}

/**
 * Takes the slots of busy accounts in blocks, so that most turns write nothing to the ledger. A block is one hold, so the slots of all
 * processes together never pass the limit. The first slot of an account in a lease, and the last slots before a limit, are holds of their own.
 */
export class SlotBlocks {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #lease: number
  readonly #blocks = new Map<string, Block>()
  /** The slots that accounts took in this lease and in the one before: the traffic to expect. */
  #counts = new Map<string, number>()
  #earlierCounts = new Map<string, number>()
  #countsUntil = 0
  #isArmed = false

  constructor(ledger: Ledger, clock: Clock, window: number) {
    this.#ledger = ledger
    this.#clock = clock
    this.#lease = Math.min(longestLease, window / leasesPerWindow)
  }

  /** Returns the hold that the slot is part of; undefined if there is no room. */
  async take(request: SlotRequest): Promise<Reservation | undefined> {
    const { account, limit } = request
    const size = Math.min(this.#expected(account), maxBlock, Math.floor(limit * blockShare))
    const slot = size > 1 ? await this.#takeFromBlock(request, size) : undefined
    return slot ?? this.#ledger.reserve({ ...request, id: crypto.randomUUID(), amount: 1 })
  }

  /** A slot of a block that was replaced or returned stays taken until its window ends. */
  async refund(slot: Reservation): Promise<void> {
    if (slot.amount === 1) return this.#ledger.settle(slot, 0)
    const block = this.#blocks.get(slot.account)
    if ((await block?.held)?.id === slot.id) (block as Block).free++
  }

  #expected(account: string): number {
    const now = this.#clock.monotonic()
    if (now >= this.#countsUntil) {
      this.#earlierCounts = now < this.#countsUntil + this.#lease ? this.#counts : new Map()
      this.#counts = new Map()
      this.#countsUntil = now + this.#lease
    }
    const count = (this.#counts.get(account) ?? 0) + 1
    this.#counts.set(account, count)
    return Math.max(count, this.#earlierCounts.get(account) ?? 0)
  }

  #takeFromBlock(request: SlotRequest, size: number): Promise<Reservation | undefined> {
    let block = this.#blocks.get(request.account)
    if (block === undefined || block.free === 0) {
      block = { held: this.#reserve(request, size), free: size }
      this.#blocks.set(request.account, block)
      this.#returnLater()
    }
    block.free--
    return block.held
  }

  /** Only if the block is a small part of what is left. */
  async #reserve({ limit, ...request }: SlotRequest, size: number): Promise<Reservation | undefined> {
    const id = crypto.randomUUID()
    return this.#ledger.reserve({ ...request, limit: limit - size / blockShare + size, id, amount: size })
  }

  #returnLater(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    this.#clock.after(this.#lease, () => this.#returnAll(), { idle: true })
  }

  #returnAll(): void {
    this.#isArmed = false
    const blocks = [...this.#blocks.values()]
    this.#blocks.clear()
    // If this fails, the unused slots stay taken until the window ends.
    for (const block of blocks) this.#return(block).catch(() => {})
  }

  async #return({ held, free }: Block): Promise<void> {
    const hold = await held
    if (hold !== undefined && free > 0) await this.#ledger.settle(hold, hold.amount - free)
  }
}
