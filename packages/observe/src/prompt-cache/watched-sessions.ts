import { finalRequest, type WatchedCall } from './find-breaks.ts'
import { commonItems } from './request-items.ts'

/** The last calls of each model in a session, with references to their messages. */
class WatchedSession {
  /** By model, the one that was called last at the end. */
  readonly #calls = new Map<string, LastCalls>()

  /** Returns the earlier call whose prompt the provider would look up: of the same model, or of the one before. */
  before(call: WatchedCall): WatchedCall | undefined {
    const last = this.#calls.get(finalRequest(call).model) ?? [...this.#calls.values()].at(-1)
    if (last === undefined || !isSameCall(last.call, call) || last.before === undefined) return last?.call
    // Another request of the same step, such as a summary or a repair.
    return commonWith(call, last.call) < commonWith(call, last.before) ? last.before : last.call
  }

  add(call: WatchedCall): void {
    const { model } = finalRequest(call)
    const last = this.#calls.get(model)
    const before = last !== undefined && isSameCall(last.call, call) ? last.before : last?.call
    this.#calls.delete(model)
    this.#calls.set(model, { call, before })
    removeOldest(this.#calls, maxModels)
  }
}

interface LastCalls {
  readonly call: WatchedCall
  /** The last one of an earlier step. */
  readonly before: WatchedCall | undefined
}

const maxModels = 4

/** The sessions that called a model last. */
export class WatchedSessions {
  readonly #maxSessions: number
  readonly #sessions = new Map<string, WatchedSession>()

  constructor(maxSessions: number) {
    this.#maxSessions = maxSessions
  }

  /** Keeps the call, and returns the one to compare it with. */
  add(session: string, call: WatchedCall): WatchedCall | undefined {
    const watched = this.#sessions.get(session) ?? new WatchedSession()
    this.#sessions.delete(session)
    this.#sessions.set(session, watched)
    removeOldest(this.#sessions, this.#maxSessions)
    const before = watched.before(call)
    watched.add(call)
    return before
  }
}

function isSameCall(a: WatchedCall, b: WatchedCall): boolean {
  return a.turnId === b.turnId && a.callIndex === b.callIndex
}

function commonWith(call: WatchedCall, other: WatchedCall): number {
  return commonItems(finalRequest(call), finalRequest(other))
}

function removeOldest<K>(map: Map<K, unknown>, limit: number): void {
  if (map.size > limit) map.delete(map.keys().next().value as K)
}
