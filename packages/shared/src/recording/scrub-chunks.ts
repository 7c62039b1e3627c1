import type { ModelChunk } from '@allium/core'
import type { CleanText } from './scrub.ts'
import { mapTexts } from './tagged-json.ts'

/**
 * Cleans the chunks of one call. Deltas of one kind are read as one text, so that a secret split across chunks is found. Ids, metadata
 * and the positions of other chunks are kept.
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

/** All text is one, across blocks, because readers join it. Each tool input is separate. */
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

/** A kind from a newer core is read as one text. */
function unknown({ type }: { type: string }): string {
  return type
}

function cleanDelta(key: string, clean: CleanText): CleanText {
  return key.startsWith('json ') ? (text) => clean(cleanArguments(text, clean)) : clean
}

/** Cleans arguments as values, because JSON may escape a secret so that no pattern matches it. */
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
 * Returns a function that maps the pieces of a text to its cleaned form. The changed part is sent whole with the piece in which it
 * begins, and removed from the pieces after it.
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
