import type { SourceChunk } from '@allium/core'

/** A source of an answer as the AI SDK has it. */
export type SourcePart = { type: 'source'; id: string; [field: string]: unknown }

/** A source with the passage of the answer that it supports: a citation of `ai` 7. */
export interface CitationPart {
  readonly source: SourcePart
  readonly startIndex?: number
  readonly endIndex?: number
  readonly citedText?: string
}

/** The sources of one answer. Providers name a source once by itself, and again for each passage that it supports. */
export class Sources {
  readonly #emitted = new Set<string>()
  #count = 0

  /** The source as a part of its own; undefined if it was one before. */
  firstTime(source: SourcePart): SourcePart | undefined {
    const { url, filename, title } = source
    const key = JSON.stringify([url ?? null, url === undefined ? [filename, title] : null])
    if (this.#emitted.has(key)) return undefined
    this.#emitted.add(key)
    return source
  }

  /** A source that stands by itself: it is told however often it comes. */
  standalone(source: SourcePart): SourcePart {
    this.firstTime(source)
    return source
  }

  part({ id = `source-${++this.#count}`, url, title, mediaType, filename }: SourceChunk): SourcePart {
    if (url !== undefined) return { type: 'source', sourceType: 'url', id, url, ...(title !== undefined && { title }) }
    const named = { title: title ?? filename ?? 'A document', ...(filename !== undefined && { filename }) }
    return { type: 'source', sourceType: 'document', id, mediaType: mediaType ?? 'application/octet-stream', ...named }
  }
}

/** A citation of a source. */
export function citationOf(
  source: SourcePart,
  { textId: _, ...passage }: NonNullable<SourceChunk['cites']>,
): CitationPart {
  return { source, ...passage }
}
