import type { SourceChunk } from '@allium/core'
import type { UiChunk } from '../sessions/ui-messages.ts'

type SourceWithId = SourceChunk & { id: string }

/** Returns a source as a chunk of the message. */
export function sourceChunk({ id: sourceId, ...source }: SourceWithId): UiChunk {
  const { url, title, mediaType, ...document } = fieldsOf(source)
  if (url !== undefined) return { type: 'source-url', sourceId, url, ...(title !== undefined && { title }) }
  return { type: 'source-document', sourceId, mediaType, title, ...document }
}

/** Returns the source of a citation, in the format of `ai` 7. */
export function sourcePart({ id, ...source }: SourceWithId): object {
  const fields = fieldsOf(source)
  return { type: 'source', sourceType: fields.url === undefined ? 'document' : 'url', id, ...fields }
}

/** The sources that a page has. Providers send a source once alone, and again for each passage that it supports. */
export class SentSources {
  readonly #sent = new Set<string>()

  isNew({ url, title, filename }: SourceChunk): boolean {
    const key = JSON.stringify(url ?? [filename, title])
    const isNew = !this.#sent.has(key)
    this.#sent.add(key)
    return isNew
  }
}

function fieldsOf({ url, title, mediaType, filename }: Omit<SourceChunk, 'id'>): Record<string, string | undefined> {
  if (url !== undefined) return { url, ...(title !== undefined && { title }) }
  const named = { title: title ?? filename ?? 'A document', ...(filename !== undefined && { filename }) }
  return { mediaType: mediaType ?? 'application/octet-stream', ...named }
}
