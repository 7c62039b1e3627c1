import { type AlliumError, type Clock, isAlliumError, type SessionKey, sessionKeyOf } from '@allium/core'
import type { EventLog, SessionStore } from '@allium/store'
import type { FairShare } from '../http/fair-share.ts'
import { requestError } from '../http/problem.ts'
import type { RunHandle } from './run-handle.ts'

/** Most inputs that wait for one session in this process. */
const maxQueued = 16
/** Milliseconds between two attempts to start a run while another process has its session. */
const retryInterval = 250

interface QueuesOptions {
  readonly clock: Clock
  readonly log: EventLog
  readonly sessions: SessionStore
  readonly shares: { readonly queued: FairShare }
}

/** Inputs that wait for their session, first come, first served. Among processes, the first one to ask for the free session gets it. */
export class Queues {
  readonly #options: QueuesOptions
  readonly #share: FairShare
  readonly #activeRun: (key: SessionKey) => RunHandle | undefined
  readonly #queues = new Map<string, { size: number; last: Promise<unknown> }>()

  /** @param activeRun returns the active run of a session in this process */
  constructor(options: QueuesOptions, activeRun: (key: SessionKey) => RunHandle | undefined) {
    this.#options = options
    this.#share = options.shares.queued
    this.#activeRun = activeRun
  }

  /**
   * Starts a run as soon as its session is free.
   *
   * @param abandoned aborts when no reader waits anymore, or with `session.not_found` when its session is deleted here
   * @throws AlliumError `session.busy` if too many inputs wait; `session.not_found` if the session was deleted; errors of `start` except
   * `session.busy`
   */
  async start(key: SessionKey, abandoned: AbortSignal, start: () => Promise<RunHandle>): Promise<RunHandle> {
    const name = sessionKeyOf({ sessionKey: key })
    const queue = this.#queues.get(name) ?? { size: 0, last: Promise.resolve() }
    if (queue.size >= maxQueued)
      throw requestError('session.busy', `${maxQueued} inputs are already waiting for this session. Try again later.`)
    const permit = this.#share.acquire(key)
    this.#queues.set(name, queue)
    queue.size++
    const startedRun = queue.last.then(() => this.#startWhenFree(key, abandoned, start)).finally(() => permit.release())
    queue.last = startedRun
      .then(({ started }) => started)
      .catch(() => {})
      .finally(() => --queue.size === 0 && this.#queues.delete(name))
    return startedRun
  }

  async #startWhenFree(key: SessionKey, abandoned: AbortSignal, start: () => Promise<RunHandle>): Promise<RunHandle> {
    const { log, sessions } = this.#options
    let isLogged = false
    for (;;) {
      abandoned.throwIfAborted()
      const run = await start().catch(ignoreBusy)
      if (isAlliumError(abandoned.reason, 'session.not_found')) run?.stop('its session is deleted')
      else if (run !== undefined && !(await isBusy(run))) return run
      run?.readers.leave()
      abandoned.throwIfAborted()
      isLogged ||= (await log.latest(key)) !== undefined
      await this.#waitUntilFree(key, abandoned)
      // Another process that deletes the session does not notify this one.
      if (isLogged && (await log.latest(key)) === undefined && (await sessions.head(key)) === undefined) throw deleted()
    }
  }

  /** Waits for the active run of this process to end. If another process has the session, waits for `retryInterval`. */
  async #waitUntilFree(key: SessionKey, abandoned: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const cancelled = new Promise<void>((resolve) =>
      abandoned.addEventListener('abort', () => resolve(), { once: true }),
    )
    const activeRun = this.#activeRun(key)
    const sessionFree =
      activeRun?.ended.catch(() => {}) ?? new Promise<void>((resolve) => clock.after(retryInterval, resolve))
    await Promise.race([sessionFree, cancelled])
  }
}

/** Returns the error of an input whose session was deleted while the input waited. */
export function deleted(): AlliumError {
  return requestError('session.not_found', 'The session was deleted while this input was queued. Send it again.')
}

function ignoreBusy(error: unknown): undefined {
  if (!isAlliumError(error, 'session.busy')) throw error
}

/** Returns whether the session is busy. The run's readers receive other rejections. */
async function isBusy({ started }: RunHandle): Promise<boolean> {
  try {
    await started
    return false
  } catch (error) {
    return isAlliumError(error, 'session.busy')
  }
}
