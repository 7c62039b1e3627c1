import type { CustomEvent, StreamEvent, SubAgentChunk } from '../events/events.ts'

type Event = StreamEvent | CustomEvent
type Delta = Extract<StreamEvent, { delta: string }>

/** Whether a piece of text, thought or tool input goes on where the event before it ended. */
export function continues(before: Event | undefined, event: Event): before is Delta | SubAgentChunk {
  if (before?.type !== event.type) return false
  if (!isOfSubAgent(event)) return isDelta(event) && sameBlock(before as Delta, event)
  const last = before as SubAgentChunk
  if (last.turnId !== event.turnId || last.stepIndex !== event.stepIndex) return false
  return isDelta(event.chunk) && last.chunk.type === event.chunk.type && sameBlock(last.chunk, event.chunk)
}

/** A copy that can be added to. */
export function ownCopy<E extends Delta | SubAgentChunk>(event: E): E {
  return isOfSubAgent(event) ? { ...event, chunk: { ...event.chunk } } : { ...event }
}

/** Adds to an event what `continues` it. */
export function add(to: Delta | SubAgentChunk, event: Event): void {
  const from = isOfSubAgent(event) ? event.chunk : event
  const target = isOfSubAgent(to) ? to.chunk : to
  ;(target as Delta).delta += (from as Delta).delta
}

function isOfSubAgent(event: Event): event is SubAgentChunk {
  return event.type === 'model:chunk'
}

function isDelta(event: Event): event is Delta {
  return event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'tool-input-delta'
}

function sameBlock(before: Event, event: Event): boolean {
  const [a, b] = [before, event] as { id?: string; callId?: string; providerMetadata?: object }[]
  if (a?.id !== b?.id || a?.callId !== b?.callId) return false
  return a?.providerMetadata === undefined && b?.providerMetadata === undefined
}
