import type { SessionScope } from '../../session/scope/session-scope.ts'
import type { Assembly } from '../../stream/assembly.ts'
import type { ContentChunk } from '../chunk.ts'

/**
 * Renames a tool call if its id is repeated or has a special meaning in Allium. Ids are unique in a history, `/`
 * separates the ids of nested sub-agent calls, and records are keyed by id. A new id is valid for every provider:
 * letters, digits, `_` and `-`, at most 64 characters.
 */
export class UniqueCallIds {
  readonly #session: Pick<SessionScope, 'callIds'>
  readonly #answer: Assembly
  #renamed: Map<string, string> | undefined

  constructor(session: Pick<SessionScope, 'callIds'>, answer: Assembly) {
    this.#session = session
    this.#answer = answer
  }

  name(chunk: Extract<ContentChunk, { callId: string }>): ContentChunk {
    if (chunk.type === 'tool-input-start') return this.#begin(chunk)
    const callId = this.#renamed?.get(chunk.callId)
    return callId === undefined ? chunk : { ...chunk, callId }
  }

  #begin<C extends ContentChunk & { callId: string }>(chunk: C): C {
    const given = chunk.callId
    if (isSound(given) && this.#isFree(given)) {
      this.#renamed?.delete(given)
      return chunk
    }
    const callId = this.#freeLike(given)
    this.#renamed ??= new Map()
    this.#renamed.set(given, callId)
    return { ...chunk, callId }
  }

  /** Finds a free id by doubling and then halving. The cost per call stays low if a provider always sends the same id. */
  #freeLike(given: string): string {
    const base = given.replace(/[^\w-]/g, '_') || 'call'
    const named = (n: number) => `${base.slice(0, maxLength - 1 - `${n}`.length)}_${n}`
    let [taken, free] = [1, 2]
    while (!this.#isFree(named(free))) [taken, free] = [free, free * 2]
    while (free - taken > 1) {
      const middle = (taken + free) >> 1
      if (this.#isFree(named(middle))) free = middle
      else taken = middle
    }
    return named(free)
  }

  #isFree(callId: string): boolean {
    return !this.#session.callIds.has(callId) && !this.#answer.has(callId)
  }
}

/** The lowest id limit among providers. */
const maxLength = 64

/** Records are keyed by id, so the name of an object's inherited member would look like an entry. */
const ofEveryObject = new Set(Object.getOwnPropertyNames(Object.prototype))

function isSound(callId: string): boolean {
  return callId !== '' && !callId.includes('/') && !ofEveryObject.has(callId)
}
