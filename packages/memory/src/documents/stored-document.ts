import { AlliumError, noUsage, type SessionKey, type StoredTurn } from '@allium/core'
import type { SessionStore } from '@allium/store'
import type { Chunk } from './chunks.ts'

/** The begin of the `agent` of every stored document. `expire()` of a store keeps those. */
const prefix = 'memory:documents/'

/** What is stored of a document besides its texts. */
export interface StoredDocument {
  readonly digest: string
  readonly title: string
  readonly url: string | undefined
  /** The section, and the first and the last paragraph of each chunk. */
  readonly places: readonly (readonly [section: string, first: number, last: number])[]
}

/** The place of the documents of a collection: stored sessions of their own, which no agent opens. Those of a tenant have no owner. */
export function collectionOf(name: string, { tenant, owner = '' }: { tenant: string; owner?: string | undefined }) {
  return { tenant, owner, agent: `${prefix}${name}` }
}

/** Returns what is stored of a document, with the number of its versions. */
export async function readDocument(
  store: Pick<SessionStore, 'head'>,
  key: SessionKey,
  of: { turnId?: string } = {},
): Promise<(StoredDocument & { readonly version: number }) | undefined> {
  const head = await store.head(key, of)
  if (head === undefined) return undefined
  const { digest, title, url, places } = head.rest.state
  if (typeof digest !== 'string' || typeof title !== 'string' || !Array.isArray(places))
    throw new AlliumError(
      'store.corrupt',
      `The document "${key.sessionId}" is not one that documents() stored. Delete it, and put it again.`,
      { details: { tenant: key.tenant } },
    )
  return {
    ...{ version: head.version, digest, title, url: typeof url === 'string' ? url : undefined },
    places: places as StoredDocument['places'],
  }
}

/**
 * Returns a version of a document as a turn that replaces the one before. Each chunk is a message. The status keeps it out of reports of
 * usage.
 */
export function turnOfDocument(
  { agent }: SessionKey,
  { chunks, at, ...document }: Omit<StoredDocument, 'places'> & { chunks: readonly Chunk[]; at: number },
): StoredTurn {
  const turnId = crypto.randomUUID()
  const places = chunks.map(({ section, paragraphs: [first, last] }) => [section, first, last])
  const state = { ...document, url: document.url ?? null, places }
  return {
    ...{ turnId, rootId: turnId, agent, status: 'closed', startedAt: at, endedAt: at },
    ...{ usage: noUsage(), answer: null, records: [], from: 0, rest: { state } },
    messages: chunks.map(({ text }) => ({ role: 'user', content: text })),
  }
}
