import type { ContentChunk } from '../model/chunk.ts'

/** Gives a tool call another id where the provider repeats one: ids are unique in a history. */
export function uniqueCallIds(session: {
  readonly callIds: ReadonlySet<string>
}): (chunk: ContentChunk) => ContentChunk {
  let begun: Set<string> | undefined
  let renamed: Map<string, string> | undefined
  return (chunk) => {
    if (!('callId' in chunk)) return chunk
    if (chunk.type !== 'tool-input-start') {
      const callId = renamed?.get(chunk.callId)
      return callId === undefined ? chunk : { ...chunk, callId }
    }
    begun ??= new Set()
    const free = (id: string) => id !== '' && !session.callIds.has(id) && !begun?.has(id)
    let callId = chunk.callId
    for (let n = 2; !free(callId); n++) callId = `${chunk.callId || 'call'}~${n}`
    begun.add(callId)
    if (callId === chunk.callId) {
      renamed?.delete(callId)
      return chunk
    }
    renamed ??= new Map()
    renamed.set(chunk.callId, callId)
    return { ...chunk, callId }
  }
}
