import { AbortError, type Clock, isAlliumError, type SessionKey } from '@allium/core'
import type { FairShare } from '../http/fair-share.ts'
import { fail } from '../http/problem.ts'
import type { Answering } from './answering.ts'
import { nameOf } from './name-of.ts'

/** Inputs that wait for one session here, at most. */
const most = 16
/** Milliseconds after which a session is asked for again that another process has. */
const again = 250

interface QueuesOptions {
  readonly clock: Clock
  readonly shares: { readonly queued: FairShare }
}

/** Inputs that wait for their session, first come first served; of several processes whoever asks first when it is free. */
export class Queues {
  readonly #clock: Clock
  readonly #share: FairShare
  readonly #live: (key: SessionKey) => Answering | undefined
  readonly #lines = new Map<string, { size: number; last: Promise<unknown> }>()

  /** @param live the run of a session that goes on in this process */
  constructor({ clock, shares }: QueuesOptions, live: (key: SessionKey) => Answering | undefined) {
    this.#clock = clock
    this.#share = shares.queued
    this.#live = live
  }

  /**
   * Begins a run as soon as its session is free.
   *
   * @param left aborts when nobody waits for it any more
   * @throws AlliumError `session.busy` where too many wait; what `begin` throws but for that code
   */
  async begin(key: SessionKey, left: AbortSignal, begin: () => Promise<Answering>): Promise<Answering> {
    const name = nameOf(key)
    const line = this.#lines.get(name) ?? { size: 0, last: Promise.resolve() }
    if (line.size >= most)
      throw fail('session.busy', `${most} inputs wait for this session already. Try again when it has come to them.`)
    const place = this.#share.take(key)
    this.#lines.set(name, line)
    line.size++
    const begun = line.last.then(() => this.#insist(key, left, begin)).finally(() => place.release())
    line.last = begun
      .then(({ started }) => started)
      .catch(() => {})
      .finally(() => --line.size === 0 && this.#lines.delete(name))
    return begun
  }

  async #insist(key: SessionKey, left: AbortSignal, begin: () => Promise<Answering>): Promise<Answering> {
    for (;;) {
      if (left.aborted) throw new AbortError('Nobody waits for the answer any more.')
      const run = await begin().catch(orBusy)
      if (run !== undefined && !(await isBusy(run))) return run
      run?.readers.leave()
      await this.#freed(key, left)
    }
  }

  /** Where it goes on here it is waited for; else somebody else has it. */
  async #freed(key: SessionKey, left: AbortSignal): Promise<void> {
    const gone = new Promise<void>((resolve) => left.addEventListener('abort', () => resolve(), { once: true }))
    const live = this.#live(key)
    const free = live?.ended.catch(() => {}) ?? new Promise<void>((resolve) => this.#clock.after(again, resolve))
    await Promise.race([free, gone])
  }
}

function orBusy(error: unknown): undefined {
  if (!isAlliumError(error, 'session.busy')) throw error
}

/** What else it was refused with, its readers are told. */
async function isBusy({ started }: Answering): Promise<boolean> {
  try {
    await started
    return false
  } catch (error) {
    return isAlliumError(error, 'session.busy')
  }
}
