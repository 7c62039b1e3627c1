import { type Message, sessionKeyOf, toJson } from '@allium/core'
import type { RunKey } from '@allium/store'
import { requestError } from '../http/problem.ts'
import type { SteerLimit } from '../options/limits.ts'

/** Most runs whose messages are counted. The run whose last message is the oldest is forgotten first. */
const maxTrackedRuns = 10_000

/** Counts the messages that this process has sent to each active run. */
export class SteerLimits {
  readonly #limit: SteerLimit
  readonly #runs = new Map<string, { readonly ids: Set<string>; bytes: number }>()

  constructor(limit: SteerLimit) {
    this.#limit = limit
  }

  /** @throws AlliumError `server.limit` for too many messages, `request.too_large` for too many bytes */
  count({ key, turnId }: RunKey, id: string, message: Message['content']): void {
    const name = `${sessionKeyOf({ sessionKey: key })} ${turnId}`
    const { ids, bytes } = this.#runs.get(name) ?? { ids: new Set<string>(), bytes: 0 }
    if (ids.has(id)) return
    const size = bytes + toJson(message).length
    if (ids.size >= this.#limit.messages)
      throw requestError(
        'server.limit',
        `A run accepts at most ${this.#limit.messages} messages. Send this one as the next input.`,
      )
    if (size > this.#limit.bytes)
      throw requestError(
        'request.too_large',
        `The messages to a run may have at most ${this.#limit.bytes} bytes in total. Send a shorter message.`,
      )
    this.#runs.delete(name)
    this.#runs.set(name, { ids: ids.add(id), bytes: size })
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= maxTrackedRuns) return
      this.#runs.delete(oldest)
    }
  }
}
