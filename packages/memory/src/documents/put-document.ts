import { AlliumError } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import { withPassages } from '@allium/store/passages'
import { loadLanguage } from '../recall/language.ts'
import { chunkPassage } from './chunk-passage.ts'
import { type Chunk, chunksOf } from './chunks.ts'
import { invalid, type ResolvedDocumentsOptions } from './documents-options.ts'
import { loadText } from './load-text.ts'
import { checkPut, type PutOptions } from './put-options.ts'
import { collectionOf, readDocument, turnOfDocument } from './stored-document.ts'

/** What `put()` did. */
export interface PutResult {
  /** `unchanged` if the document has been stored with the same text, title, address and labels. */
  readonly status: 'added' | 'replaced' | 'unchanged'
  /** The number of its chunks. */
  readonly chunks: number
}

/** Changes when texts are split or indexed in another way, so that the next `put()` replaces the document. */
const indexVersion = 1
const leaseDuration = 30_000

export async function putDocument(
  options: ResolvedDocumentsOptions,
  id: string,
  text: string,
  given: PutOptions,
): Promise<PutResult> {
  checkPut(id, text, given, options.maxBytes)
  const { sessions, passages, name, language: code, clock } = options
  const { format = 'text', title, url, flow = { untrusted: true } } = given
  const at = clock.now()
  const key = { ...collectionOf(name, given), sessionId: id }
  const digest = await digestOf([indexVersion, code, format, title ?? null, url ?? null, flow, text])
  const known = await readDocument(sessions, key)
  if (known?.digest === digest && (await isIndexed())) return { status: 'unchanged', chunks: known.places.length }
  const language = await loadLanguage(code)
  const loaded = await loadText(text, format)
  const chunks = checkChunks(id, chunksOf(loaded.blocks, language.locale), options.maxChunks)
  if (known === undefined) await checkRoom(options, key)
  const { lease, heldUntil } = await sessions.acquire(key, leaseDuration)
  if (lease === undefined) throw isBeingPut(id, heldUntil)
  try {
    const owner = { tenant: key.tenant, owner: key.owner }
    const termKey = await passages.key({ ...owner, agent: key.agent }, { ...owner, since: at, lease })
    if (termKey === undefined)
      throw new AlliumError('store.unavailable', `The store has no key for the terms of "${id}".`)
    const document = { digest, title: (title ?? loaded.title ?? id).slice(0, 1_000), url }
    const turn = turnOfDocument(key, { ...document, chunks, at })
    const added = chunks.map((chunk, index) =>
      chunkPassage(chunk, index, { title: document.title, flow, at, language, termKey }),
    )
    await sessions.append(lease, lease.version, withPassages(turn, { passages: added, copied: 0 }))
    return { status: lease.version === 0 ? 'added' : 'replaced', chunks: chunks.length }
  } finally {
    await sessions.release(lease)
  }

  /** An imported document has no passages. */
  async function isIndexed(): Promise<boolean> {
    return (await passages.read(key, [{ sessionId: id, position: 0 }])).length > 0
  }
}

function checkChunks(id: string, chunks: readonly Chunk[], most: number): readonly Chunk[] {
  if (chunks.length === 0) throw invalid(`The document "${id}" has no text. Delete it instead, or check its format.`)
  if (chunks.length > most)
    throw invalid(
      `The document "${id}" has ${chunks.length} chunks, and ${most} are the maximum. Split it, or raise maxChunks.`,
    )
  return chunks
}

/** @throws AlliumError `options.invalid` if the collection is full */
async function checkRoom(
  { sessions, maxDocuments, name }: ResolvedDocumentsOptions,
  { tenant, owner, agent }: { tenant: string; owner: string; agent: string },
): Promise<void> {
  let count = 0
  let cursor: string | undefined
  do {
    const page = await sessions.list({
      tenant,
      owner,
      agents: [agent],
      limit: 500,
      ...(cursor !== undefined && { cursor }),
    })
    count += page.items.length
    cursor = page.cursor
  } while (cursor !== undefined && count < maxDocuments)
  if (count >= maxDocuments)
    throw invalid(
      `The collection "${name}" has ${count} documents, which is the maximum. Delete some, or raise maxDocuments.`,
    )
}

function isBeingPut(id: string, heldUntil: number | undefined): AlliumError {
  return new AlliumError(
    'session.busy',
    `The document "${id}" is being put by another call. Wait for it, and put it again.`,
    { details: { heldUntil } },
  )
}
