import type { ModelChunk } from '@allium/core'
import type { CleanText } from './scrub.ts'
import { mapTexts } from './tagged-json.ts'

/**
 * Cleans the chunks of one call. Deltas of one kind are read as the one text that they make, so that no secret stays
 * because a chunk edge goes through it; ids, metadata and the places of the other chunks are kept.
 */
export function cleanChunks(chunks: readonly ModelChunk[], clean: CleanText): ModelChunk[] {
  const texts = new Map<string, string>()
  for (const chunk of chunks)
    if ('delta' in chunk) texts.set(textKey(chunk), (texts.get(textKey(chunk)) ?? '') + chunk.delta)
  const edits = new Map([...texts].map(([key, text]) => [key, editOf(text, cleanDelta(key, clean))]))
  return chunks.flatMap((chunk): ModelChunk[] => {
    if (!('delta' in chunk)) return [mapTexts(chunk, clean)]
    const delta = edits.get(textKey(chunk))?.(chunk.delta) ?? ''
    if (delta === '' && chunk.delta !== '' && chunk.providerMetadata === undefined) return []
    return [{ ...mapTexts(chunk, clean), delta }]
  })
}

type DeltaChunk = Extract<ModelChunk, { delta: string }>

/** All text is one, whatever its blocks: that is how the answer's text is read. Each tool input is its own. */
function textKey(chunk: DeltaChunk): string {
  switch (chunk.type) {
    case 'tool-input-delta':
      return `json ${chunk.callId}`
    case 'text-delta':
    case 'reasoning-delta':
      return chunk.type
    default:
      return unknown(chunk)
  }
}

/** A kind that a newer core knows is read as one text. */
function unknown({ type }: { type: string }): string {
  return type
}

function cleanDelta(key: string, clean: CleanText): CleanText {
  return key.startsWith('json ') ? (text) => clean(cleanArguments(text, clean)) : clean
}

/** Arguments are cleaned as values: JSON may write a secret with escapes that no pattern sees. */
function cleanArguments(json: string, clean: CleanText): string {
  try {
    const plain: unknown = JSON.parse(json)
    const cleaned = JSON.stringify(mapTexts(plain, clean))
    return cleaned === JSON.stringify(plain) ? json : cleaned
  } catch {
    return json
  }
}

/**
 * Turns a text that comes in pieces into its cleaned form: what differs goes out whole with the piece in which it
 * begins, and is cut from the pieces after.
 */
function editOf(text: string, clean: CleanText): (piece: string) => string {
  const cleaned = clean(text)
  if (cleaned === text) return (piece) => piece
  const maxCommon = Math.min(text.length, cleaned.length)
  let commonPrefix = 0
  while (commonPrefix < maxCommon && text[commonPrefix] === cleaned[commonPrefix]) commonPrefix++
  let commonSuffix = 0
  while (commonSuffix < maxCommon - commonPrefix && text.at(-1 - commonSuffix) === cleaned.at(-1 - commonSuffix))
    commonSuffix++
  const [begin, end] = [commonPrefix, text.length - commonSuffix]
  const instead = cleaned.slice(commonPrefix, cleaned.length - commonSuffix)
  let at = 0
  let isEmitted = false
  return (piece) => {
    const start = at
    at += piece.length
    const begins = !isEmitted && (at > begin || at === text.length)
    isEmitted ||= begins
    const head = piece.slice(0, Math.max(0, begin - start))
    return head + (begins ? instead : '') + piece.slice(Math.max(0, end - start))
  }
}
