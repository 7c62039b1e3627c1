import type { RequestRecord } from '@allium/server/inspect'

type Messages = RequestRecord['messages']

/** Returns the messages of a request, from the records of the turn's requests: each has only what differs from the one before. */
export function messagesOf(requests: readonly RequestRecord[], index: number): Messages {
  const pieces: Messages[] = []
  let needed = Number.POSITIVE_INFINITY
  for (let at = index; at >= 0 && needed > 0; at--) {
    const { keep, messages } = requests[at] as RequestRecord
    if (keep >= needed) continue
    pieces.push(messages.slice(0, needed - keep))
    needed = keep
  }
  return pieces.reverse().flat()
}

/** Returns the tools of a request. */
export function toolsOf(requests: readonly RequestRecord[], index: number): RequestRecord['tools'] {
  for (let at = index; at >= 0; at--) {
    const { tools } = requests[at] as RequestRecord
    if (tools !== undefined) return tools
  }
  return []
}
