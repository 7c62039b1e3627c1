import { type Clock, type Message, messageOf } from '@allium/core'
import type { LedgerBalance } from '@allium/store'
import type {
  RecordedAbort,
  RecordedClock,
  RecordedMoment,
  RecordedPosting,
  RecordedSteer,
  RecordedTurn,
} from './recorded-turn.ts'
import { type WatchedClock, watchClock } from './watch-clock.ts'

/** The most readings, timers, messages and postings of a turn, each. */
const most = 2_000

/** Keeps what comes to a turn from outside its steps: the time, steered messages, an abort, and answers of ledgers. */
export class Moments {
  readonly startedAt: number
  readonly watched: WatchedClock
  /** Whether more came than it keeps. */
  hasLost = false
  readonly #clock: Clock
  readonly #running = new Set<string>()
  readonly #reads: number[][] = []
  readonly #fired: (RecordedMoment & { readonly ms: number })[] = []
  readonly #steered: RecordedSteer[] = []
  readonly #postings: RecordedPosting[] = []
  #abort: RecordedAbort | undefined
  #readings = 0
  #ended = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.startedAt = clock.now()
    this.watched = watchClock(clock, {
      read: (now) => this.#read(now - this.startedAt),
      fired: (ms) => this.#keep(this.#fired, { ...this.now(), ms }),
    })
  }

  now(): RecordedMoment {
    return { after: this.#ended, at: this.#clock.now() - this.startedAt }
  }

  began(id: string): void {
    this.#running.add(id)
  }

  ended(id: string): void {
    this.#running.delete(id)
    this.#ended++
  }

  steered(message: Message): void {
    this.#keep(this.#steered, { ...this.now(), message })
  }

  posted(posting: Omit<RecordedPosting, keyof RecordedMoment>): void {
    this.#keep(this.#postings, { ...this.now(), ...posting })
  }

  /** Notes the first abort, unless a timer caused it: a timer that fires again aborts again. */
  aborted(error: unknown): void {
    if (!this.watched.isFiring) this.#abort ??= { ...this.now(), reason: reasonOf(error), during: [...this.#running] }
  }

  /** Returns the fields of the recording. */
  fields(
    balances: ReadonlyMap<string, LedgerBalance | undefined>,
  ): { clock: RecordedClock } & Pick<RecordedTurn, 'steered' | 'postings' | 'abort'> {
    const [fired, steered, abort] = [this.#fired, this.#steered, this.#abort]
    const postings = withBalances(this.#postings, balances)
    return {
      clock: { reads: this.#reads, ...(fired.length > 0 && { fired }) },
      ...(steered.length > 0 && { steered }),
      ...(abort !== undefined && { abort }),
      ...(postings.length > 0 && { postings }),
    }
  }

  #read(at: number): void {
    if (++this.#readings > most) {
      this.hasLost = true
      return
    }
    const last = this.#reads.at(-1)
    if (last?.[0] === this.#ended) last.push(at)
    else this.#reads.push([this.#ended, at])
  }

  #keep<T>(list: T[], item: T): void {
    if (list.length < most) list.push(item)
    else this.hasLost = true
  }
}

/** Returns what was passed to `abort()`, as a text. */
function reasonOf(error: unknown): string {
  const { reason = error } = (error ?? {}) as { reason?: unknown }
  return typeof reason === 'string' ? reason : messageOf(reason)
}

/** Adds the balance of each account to its first reservation. */
function withBalances(
  postings: readonly RecordedPosting[],
  balances: ReadonlyMap<string, LedgerBalance | undefined>,
): RecordedPosting[] {
  const told = new Set<string>()
  return postings.map((posting) => {
    const balance = balances.get(posting.account)
    if (balance === undefined || posting.operation !== 'reserve' || told.has(posting.account)) return posting
    told.add(posting.account)
    return { ...posting, balance }
  })
}
