import type { ContentChunk } from '../../model/chunk.ts'
import type { Assembly } from '../../stream/assembly.ts'
import type { SessionScope } from '../session/session-scope.ts'

/**
 * Gives a tool call another id where the provider repeats one, or gives one that Allium reads otherwise: ids are unique in
 * a history, `/` leads to a call inside a sub-agent, and records go by id. A new id is one that every provider takes:
 * letters, digits, `_` and `-`, 64 at the most.
 */
export class UniqueCallIds {
  readonly #session: Pick<SessionScope, 'callIds'>
  readonly #answer: Assembly
  #renamed: Map<string, string> | undefined

  constructor(session: Pick<SessionScope, 'callIds'>, answer: Assembly) {
    this.#session = session
    this.#answer = answer
  }

  name(chunk: ContentChunk): ContentChunk {
    if (!('callId' in chunk)) return chunk
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

  /** By doubling, then halving: a provider that always gives one id does not make each call dearer than the last. */
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

/** What providers allow at the least. */
const maxLength = 64

/** Records go by id: a name that every object has would be taken for an entry. */
const ofEveryObject = new Set(Object.getOwnPropertyNames(Object.prototype))

function isSound(callId: string): boolean {
  return callId !== '' && !callId.includes('/') && !ofEveryObject.has(callId)
}
