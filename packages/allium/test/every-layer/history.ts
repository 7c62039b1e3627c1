import type { Message } from '@allium/core'

/** What is wrong with a conversation that providers would refuse, or that says something twice. */
export function faultsOf(messages: readonly Readonly<Message>[]): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  let open: string[] = []
  for (const [i, { role, content }] of messages.entries()) {
    const parts = typeof content === 'string' ? [] : content
    if (role !== 'tool' && open.length > 0) faults.push(`${i}: ${open} have no result`)
    if (role === 'tool') {
      const given = parts.flatMap((part) => (part.type === 'tool-result' ? [part.callId] : []))
      if (given.join() !== open.join()) faults.push(`${i}: results of ${given}, asked were ${open}`)
      open = []
    }
    if (role !== 'assistant') continue
    if (content === '' || (typeof content !== 'string' && content.length === 0)) faults.push(`${i}: an empty answer`)
    const asked = parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []))
    for (const id of asked) if (seen.has(id)) faults.push(`${i}: ${id} was used before`)
    for (const id of asked) seen.add(id)
    open = asked
  }
  return faults
}
