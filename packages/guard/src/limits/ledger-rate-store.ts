import type { Clock } from '@allium/core'
import type { Ledger, Reservation } from '@allium/store'
import type { RateStore, RateStoreOptions } from './rate-store.ts'

/** The maximum number of slots in a block. */
const maxBlock = 64
/** A block has room for this many times the slots that its account took in this lease. */
const blockGrowth = 4
/** A block takes at most this fraction of the slots that are left in its window. */
const blockShare = 1 / 8
/** The longest time that a process keeps unused slots, in milliseconds. */
const maxLease = 1_000
/** Leases are short compared with the window, because other processes cannot use the slots of a block. */
const leasesPerWindow = 60

type SlotRequest = Omit<Parameters<Ledger['reserve']>[0], 'id' | 'amount'>

interface Block {
  /** The hold of all slots of the block; undefined if it was refused. */
  readonly held: Promise<Reservation | undefined>
  free: number
}

/**
 * Counts rates in a ledger. Each slot is held until its window ends, in an account of that window. A process takes the slots of a busy
 * account in blocks, so that most turns write nothing. A block is one hold, so the slots of all processes together never pass the limit.
 * The first slot of an account in a lease, and the last slots before a limit, are holds of their own.
 */
export class LedgerRateStore implements RateStore {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #options: RateStoreOptions
  readonly #origin: number
  readonly #lease: number
  readonly #blocks = new Map<string, Block>()
  /** The slots that each account took in this lease. */
  readonly #counts = new Map<string, number>()
  #countsUntil = 0

  /** @param origin when a window begins. Processes that share the ledger need the same one. */
  constructor(ledger: Ledger, clock: Clock, options: RateStoreOptions, origin = 0) {
    this.#ledger = ledger
    this.#origin = origin
    this.#clock = clock
    this.#options = options
    this.#lease = Math.min(maxLease, (options.duration * 1000) / leasesPerWindow)
  }

  /** Returns the hold that the slot is part of. @param asker the run that needs the slot */
  async consume(key: string, _points = 1, asker?: string): Promise<Reservation> {
    const { keyPrefix, points: limit, duration } = this.#options
    const window = duration * 1000
    const now = this.#clock.now()
    const elapsed = (now - this.#origin) % window
    const account = `${keyPrefix}:rate:${now - elapsed}:${key}`
    const remaining = window - elapsed
    const request = { account, limit, ttl: remaining, endsIn: remaining, asker }
    const size = Math.min(this.#count(account) * blockGrowth, maxBlock, Math.floor(limit * blockShare))
    const slot = (size > blockGrowth && (await this.#takeFromBlock(request, size))) || (await this.#reserve(request, 1))
    if (slot === undefined) throw { msBeforeNext: remaining }
    return slot
  }

  /** A slot of a block is used again by this process. If it has no block of the window any more, the slot stays taken. */
  async undo(slot: Reservation): Promise<void> {
    if (slot.amount === 1) return this.#ledger.settle(slot, 0)
    const block = this.#blocks.get(slot.account)
    if (block !== undefined) block.free++
  }

  #count(account: string): number {
    const now = this.#clock.monotonic()
    if (now >= this.#countsUntil) {
      this.#counts.clear()
      this.#countsUntil = now + this.#lease
    }
    const count = (this.#counts.get(account) ?? 0) + 1
    this.#counts.set(account, count)
    return count
  }

  #takeFromBlock(request: SlotRequest, size: number): Promise<Reservation | undefined> {
    const { account, limit } = request
    let block = this.#blocks.get(account)
    if (block === undefined || block.free === 0) {
      if (this.#blocks.size === 0) this.#clock.after(this.#lease, () => this.#returnAll(), { idle: true })
      // Only if the block is a small part of what is left.
      const held = this.#reserve({ ...request, limit: limit - size / blockShare + size }, size)
      held.catch(() => this.#blocks.delete(account))
      block = { held, free: size }
      this.#blocks.set(account, block)
    }
    block.free--
    return block.held
  }

  async #reserve(request: SlotRequest, amount: number): Promise<Reservation | undefined> {
    return this.#ledger.reserve({ ...request, id: crypto.randomUUID(), amount })
  }

  /** If this fails, the unused slots stay taken until their window ends. */
  async #returnAll(): Promise<void> {
    const blocks = [...this.#blocks.values()]
    this.#blocks.clear()
    const returned = blocks.map(async ({ held, free }) => {
      const hold = await held
      if (hold !== undefined && free > 0) await this.#ledger.settle(hold, hold.amount - free)
    })
    await Promise.allSettled(returned)
  }
}
