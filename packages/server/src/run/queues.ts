import {
  type AlliumError,
  type Clock,
  type EventLog,
  isAlliumError,
  type SessionKey,
  type SessionStore,
} from '@allium/core'
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
  readonly log: EventLog
  readonly sessions: SessionStore
  readonly shares: { readonly queued: FairShare }
}

/** Inputs that wait for their session, first come first served; of several processes whoever asks first when it is free. */
export class Queues {
  readonly #options: QueuesOptions
  readonly #share: FairShare
  readonly #live: (key: SessionKey) => Answering | undefined
  readonly #lines = new Map<string, { size: number; last: Promise<unknown> }>()

  /** @param live the run of a session that goes on in this process */
  constructor(options: QueuesOptions, live: (key: SessionKey) => Answering | undefined) {
    this.#options = options
    this.#share = options.shares.queued
    this.#live = live
  }

  /**
   * Begins a run as soon as its session is free.
   *
   * @param left aborts when nobody waits for it any more, or with `session.not_found` when its session is deleted here
   * @throws AlliumError `session.busy` where too many wait; `session.not_found` when its session was deleted; what `begin` throws
   * but for `session.busy`
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
    const { log, sessions } = this.#options
    let isLogged = false
    for (;;) {
      left.throwIfAborted()
      const run = await begin().catch(orBusy)
      if (isAlliumError(left.reason, 'session.not_found')) run?.stop('its session is deleted')
      else if (run !== undefined && !(await isBusy(run))) return run
      run?.readers.leave()
      left.throwIfAborted()
      isLogged ||= (await log.latest(key)) !== undefined
      await this.#freed(key, left)
      // Another process that deletes the session does not say so here.
      if (isLogged && (await log.latest(key)) === undefined && (await sessions.load(key)) === undefined) throw deleted()
    }
  }

  /** Where it goes on here it is waited for; else somebody else has it. */
  async #freed(key: SessionKey, left: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const gone = new Promise<void>((resolve) => left.addEventListener('abort', () => resolve(), { once: true }))
    const live = this.#live(key)
    const free = live?.ended.catch(() => {}) ?? new Promise<void>((resolve) => clock.after(again, resolve))
    await Promise.race([free, gone])
  }
}

/** How an input ends whose session was deleted while it waited. */
export function deleted(): AlliumError {
  return fail(
    'session.not_found',
    'The session was deleted while this input waited for it. Send it again to begin a new one.',
  )
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
