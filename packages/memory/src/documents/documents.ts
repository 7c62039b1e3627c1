import { AlliumError, type TurnView, tenantOf } from '@allium/core'
import type { SearchContext, SearchHit, SearchScope, SearchSource } from '@allium/store'
import { type DocumentsOptions, invalid, resolveDocumentsOptions } from './documents-options.ts'
import { type PutResult, putDocument } from './put-document.ts'
import { checkDocumentOwner, checkId, type DocumentOwner, type PutOptions } from './put-options.ts'
import { searchDocuments } from './search-documents.ts'
import { collectionOf, readDocument } from './stored-document.ts'

/** A document of a collection, without its text. */
export interface StoredDocumentInfo {
  readonly id: string
  /** When it was last put, in milliseconds since the epoch by the store's clock. */
  readonly updatedAt: number
}

/** A collection of documents. It is a source of `tools.search`. */
export interface Documents extends SearchSource {
  /**
   * Stores a document, or replaces it: its former chunks are removed and the new ones are added in one transaction. Does nothing if it is
   * stored with the same text, title, address and labels.
   *
   * @param id up to 2,048 bytes. The same id of a person and of the tenant are two documents
   * @throws AlliumError `options.invalid` out of bounds; `session.busy` while another call puts it; `store.fenced` if the tenant or the
   * person is erased meanwhile
   */
  put(id: string, text: string, options: PutOptions): Promise<PutResult>
  /** Deletes a document with all of its versions. Does nothing if there is none. */
  delete(id: string, of: DocumentOwner): Promise<void>
  /** Returns the title, the address and the number of chunks of a document; undefined if there is none. */
  get(id: string, of: DocumentOwner): Promise<DocumentInfo | undefined>
  /** Lists the documents of the tenant, or those of one person, the last put first. @param of.limit from 1 to 500 @default 100 */
  list(
    of: DocumentOwner & { cursor?: string; limit?: number },
  ): Promise<{ items: StoredDocumentInfo[]; cursor?: string }>
  /**
   * Returns the chunks that fit a question best, best first: of the tenant's documents, and of the person's with an `owner`.
   *
   * @param of.limit up to 100 @default 6
   */
  search(question: string, of: SearchScope | SearchContext): Promise<SearchHit[]>
}

export interface DocumentInfo {
  readonly id: string
  readonly title: string
  readonly url: string | undefined
  readonly chunks: number
}

/**
 * Makes a collection of documents that agents search by their words. It needs neither an embedding model nor a vector database.
 *
 * A document belongs to a tenant, or to one person in it. It is found by nobody else, and is erased with them. The store indexes its words
 * as digests under a key of the owner. Give the collection to `tools.search`, which makes it a tool.
 *
 * @throws AlliumError `options.invalid`
 * @example
 * const handbook = documents({ store, name: 'handbook' })
 * await handbook.put('returns', text, { tenant: 'acme', format: 'markdown', url: 'https://acme.test/returns' })
 * agent.use(tools.search({ in: [handbook] }))
 */
export function documents(given: DocumentsOptions): Documents {
  const options = resolveDocumentsOptions(given)
  const { sessions, name } = options
  const keyOf = (what: string, id: string, of: DocumentOwner) => {
    checkId(id)
    checkDocumentOwner(what, of)
    return { ...collectionOf(name, of), sessionId: id }
  }
  return {
    name,
    check: ({ principal }) => checkPrincipal(name, principal),
    put: (id, text, put) => putDocument(options, id, text, put),
    delete: async (id, of) => sessions.delete(keyOf('delete()', id, of)),
    async get(id, of) {
      const document = await readDocument(sessions, keyOf('get()', id, of))
      return document && { id, title: document.title, url: document.url, chunks: document.places.length }
    },
    async list({ cursor, limit = 100, ...of }) {
      checkDocumentOwner('list()', of)
      checkLimit('list()', limit, 500)
      const { tenant, owner, agent } = collectionOf(name, of)
      const page = await sessions.list({
        tenant,
        owner,
        agents: [agent],
        limit,
        ...(cursor !== undefined && { cursor }),
      })
      return { ...page, items: page.items.map(({ key, updatedAt }) => ({ id: key.sessionId, updatedAt })) }
    },
    async search(question, { tenant, owner = '', limit = 6 }) {
      if (typeof question !== 'string') throw invalid('search() needs a question, a text.')
      if (typeof tenant !== 'string' || tenant === '') throw invalid("search() needs the tenant: { tenant: 'acme' }.")
      checkLimit('search()', limit, 100)
      return searchDocuments(options, question, { tenant, owner, limit })
    },
  }
}

function checkLimit(what: string, limit: number, most: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw invalid(`${what} got the limit ${String(limit)}. Pass a whole number from 1 to ${most}.`)
}

/** Documents belong to a tenant, so a principal without one would find those of nobody, or of all. */
function checkPrincipal(name: string, principal: TurnView['principal']): void {
  if (tenantOf(principal) !== undefined) return
  throw new AlliumError(
    'session.principal',
    `The documents "${name}" belong to tenants, but this session's principal has no tenantId. Open it with agent.session({ principal: { tenantId, userId } }).`,
    { details: { collection: name } },
  )
}
