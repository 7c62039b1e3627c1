import type { ContentChunk } from '@allium/core'

/** A chunk of the arguments of a tool call. */
export type ToolInput = Extract<ContentChunk, { type: `tool-input-${string}` }>

/** Returns the arguments of a call as one text. */
export function argumentsText(chunks: readonly ToolInput[]): string {
  return chunks.map((chunk) => (chunk.type === 'tool-input-delta' ? chunk.delta : '')).join('')
}

/** Returns the chunks of a call with this text as its arguments, in the first chunk that has any. */
export function withArguments(chunks: readonly ToolInput[], text: string): ToolInput[] {
  let rest = text
  return chunks.flatMap((chunk): ToolInput[] => {
    if (chunk.type !== 'tool-input-delta') return [chunk]
    const delta = rest
    rest = ''
    return delta === '' ? [] : [{ ...chunk, delta }]
  })
}
