import type { SourceChunk } from '@allium/core'

/** A source of an answer in the AI SDK's form. */
export type SourcePart = { type: 'source'; id: string; [field: string]: unknown }

/** A source with the passage of the answer that it supports: a citation in `ai` 7. */
export interface CitationPart {
  readonly source: SourcePart
  readonly startIndex?: number
  readonly endIndex?: number
  readonly citedText?: string
}

/** The sources of one answer. Providers send a source once by itself, and again for each passage that it supports. */
export class Sources {
  readonly #emitted = new Set<string>()
  #count = 0

  /** Returns the source as a separate part; undefined if it was already emitted. */
  firstTime(source: SourcePart): SourcePart | undefined {
    const { url, filename, title } = source
    const key = JSON.stringify([url ?? null, url === undefined ? [filename, title] : null])
    if (this.#emitted.has(key)) return undefined
    this.#emitted.add(key)
    return source
  }

  /** Returns a standalone source, which is emitted every time. */
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

/** Returns a citation of a source. */
export function citationOf(
  source: SourcePart,
  { textId: _, ...passage }: NonNullable<SourceChunk['cites']>,
): CitationPart {
  return { source, ...passage }
}
