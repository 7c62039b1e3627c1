import type { ContentChunk, ModelContext } from '@allium/core'
import type { StreamChunk } from '../contexts.ts'
import { fire } from './fire.ts'
import type { Loop } from './loop.ts'
import { inLoop } from './loop-context.ts'

export function fireChunk(loop: Loop, turn: ModelContext, chunk: StreamChunk): Promise<void> {
  return fire(loop, {
    hook: 'onStreamChunk',
    turn,
    phase: 'stream',
    draft: (entryState) => ({ ctx: inLoop(loop, entryState, { chunk: { ...chunk } }) }),
  })
}

/** Converts a chunk to the hooks' form; undefined for files, sources, provider-specific parts and results, which hooks do not support. */
export function toStreamChunk(chunk: ContentChunk): StreamChunk | undefined {
  switch (chunk.type) {
    case 'text-delta':
      return { type: 'text', delta: chunk.delta }
    case 'reasoning-delta':
      return { type: 'thinking', delta: chunk.delta }
    case 'tool-input-start':
      return { type: 'tool_call_start', id: chunk.callId, name: chunk.name }
    case 'tool-input-delta':
      return { type: 'tool_call_delta', id: chunk.callId, argsDelta: chunk.delta }
    case 'tool-input-end':
      return { type: 'tool_call_end', id: chunk.callId }
    case 'tool-result':
    case 'file':
    case 'source':
    case 'custom':
      return undefined
    default:
      return unknown(chunk)
  }
}

/** A kind from a newer core that hooks do not support. */
function unknown(_: never): undefined {}
