import type { ContentChunk } from '../../model/chunk.ts'
import type { Assembly } from '../../stream/assembly.ts'
import type { SessionScope } from '../session/session-scope.ts'

/** Gives a tool call another id where the provider repeats one: ids are unique in a history. */
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
    if (this.#isFree(chunk.callId)) {
      this.#renamed?.delete(chunk.callId)
      return chunk
    }
    let n = 2
    const next = () => `${chunk.callId || 'call'}~${n}`
    while (!this.#isFree(next())) n++
    this.#renamed ??= new Map()
    this.#renamed.set(chunk.callId, next())
    return { ...chunk, callId: next() }
  }

  #isFree(callId: string): boolean {
    return callId !== '' && !this.#session.callIds.has(callId) && !this.#answer.has(callId)
  }
}
