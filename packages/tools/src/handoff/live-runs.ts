import { type SessionKey, sessionKeyOf } from '@allium/core'
import { equalJson } from '@allium/core/internal'
import type { GroupRun, Turn } from './group-run.ts'

interface Request {
  readonly idempotencyKey: string | undefined
  readonly request: object
}

/** The runs of a group that have not ended, by session. */
export class LiveGroupRuns {
  readonly #runs = new Map<string, Set<{ readonly run: GroupRun; readonly by: Request }>>()
  readonly #read = new WeakSet<Turn>()

  /** Starts a run, or returns the one of the same request. */
  start(key: SessionKey, by: Request, start: () => GroupRun): GroupRun {
    const name = sessionKeyOf({ sessionKey: key })
    const live = this.#runs.get(name) ?? new Set()
    const { idempotencyKey, request } = by
    for (const one of live)
      if (
        idempotencyKey !== undefined &&
        one.by.idempotencyKey === idempotencyKey &&
        equalJson(one.by.request, request)
      )
        return one.run
    const entry = { run: start(), by }
    this.#runs.set(name, live.add(entry))
    entry.run.settled().then(() => {
      live.delete(entry)
      if (live.size === 0) this.#runs.delete(name)
    })
    return entry.run
  }

  /** Aborts the current run of a session. */
  abort(key: SessionKey, reason: unknown): void {
    const [first] = this.#of(key)
    first?.run.abort(reason)
  }

  /** Waits for the runs of a session. */
  async settled(key: SessionKey): Promise<void> {
    await Promise.all([...this.#of(key)].map(({ run }) => run.settled()))
  }

  /** Returns whether the events of a turn were read before, and notes that they are read now. */
  isRead(turn: Turn): boolean {
    if (this.#read.has(turn)) return true
    this.#read.add(turn)
    return false
  }

  #of(key: SessionKey) {
    return this.#runs.get(sessionKeyOf({ sessionKey: key })) ?? []
  }
}
