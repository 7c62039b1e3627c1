import type { Passage, SearchHit } from '@allium/store'
import { joinByShare } from '@allium/store/passages'
import { loadLanguage } from '../recall/language.ts'
import { search } from '../recall/search.ts'
import type { ResolvedDocumentsOptions } from './documents-options.ts'
import { collectionOf, readDocument } from './stored-document.ts'

interface Of {
  readonly tenant: string
  /** Empty for the whole tenant alone. */
  readonly owner: string
  readonly limit: number
}

/** Returns the chunks that fit a question best, from the documents of the tenant and of the person. */
export async function searchDocuments(
  options: ResolvedDocumentsOptions,
  question: string,
  { tenant, owner, limit }: Of,
): Promise<SearchHit[]> {
  const owners = owner === '' ? [''] : [owner, '']
  const lists = await Promise.all(owners.map((one) => searchOf(options, question, { tenant, owner: one, limit })))
  return joinByShare(lists, limit)
}

async function searchOf(
  { sessions, passages, name, language: code }: ResolvedDocumentsOptions,
  question: string,
  { tenant, owner, limit }: Of,
): Promise<SearchHit[]> {
  const scope = collectionOf(name, { tenant, owner })
  const language = await loadLanguage(code)
  const found = await search(question, { store: passages, scope, language, limit, isKnown: () => false })
  const versions = new Map<string, ReturnType<typeof readDocument>>()
  const hits = await Promise.all(
    found.map(async (passage) => {
      const { sessionId, turnId } = passage
      const document = versions.get(turnId) ?? readDocument(sessions, { ...scope, sessionId }, { turnId })
      versions.set(turnId, document)
      return hitOf(passage, await document)
    }),
  )
  return hits.flatMap((hit) => hit ?? [])
}

/** Returns nothing for a document that was deleted meanwhile. */
function hitOf(
  { sessionId: id, text, index, flow }: Passage,
  document: Awaited<ReturnType<typeof readDocument>>,
): SearchHit | undefined {
  const place = document?.places[index]
  if (document === undefined || place === undefined) return undefined
  const [section, first, last] = place
  const { title, url } = document
  return {
    ...{ text, id, title, paragraphs: [first, last], flow },
    ...(section !== '' && { section }),
    ...(url !== undefined && { url }),
  }
}
