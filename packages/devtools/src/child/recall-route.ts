import { explainRecall, type RecallReason } from '@allium/memory/explain'
import type { RecallLanguage } from '@allium/memory/recall'
import { hideSecrets } from '@allium/shared/detect'
import type { PassageStore } from '@allium/store'
import { type RecallRequest, recallRequest } from './recall-request.ts'

/** A recalled passage for the page. */
export interface RecalledItem extends Pick<RecallReason, 'words' | 'near'> {
  readonly sessionId: string
  readonly turnId: string
  /** Undefined if it was deleted or changed since. */
  readonly passage: RecalledPassage | undefined
}

interface RecalledPassage {
  readonly role: 'user' | 'assistant'
  readonly author: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly labels: readonly string[]
  /** As the model got it, without credentials. */
  readonly text: string
}

/** What was recalled for a question. */
export interface RecallView {
  /** The words that the question looks for. */
  readonly asked: readonly string[]
  readonly passages: readonly RecalledItem[]
  /** Nothing can be read: memory is switched off, or the person was erased. */
  readonly isOff: boolean
}

interface RecallSource {
  readonly passages: PassageStore
  /** The name of the agent in the keys of its sessions. */
  readonly agent: string
  /** Its layers, which have the language. */
  readonly layers: readonly { readonly name: string; readonly options?: Readonly<Record<string, unknown>> }[]
}

/** The route of the page that explains what a turn recalled. */
const path = '/api/inspector/recall'

/** Longest text of a passage that the page shows. */
const maxText = 4_000

/** Answers a request for the passages that were recalled; undefined for another path. */
export async function recallRoute(request: Request, source: RecallSource): Promise<Response | undefined> {
  if (new URL(request.url).pathname !== path || request.method !== 'POST') return undefined
  const of = await recallRequest(request)
  if (of === undefined)
    return Response.json(
      { code: 'request.invalid', message: 'The body needs the texts tenant, owner, layer and question.' },
      { status: 400 },
    )
  return Response.json(await recallView(of, source))
}

async function recallView(
  { tenant, owner, layer, question, places }: RecallRequest,
  { passages, agent, layers }: RecallSource,
): Promise<RecallView> {
  const language = layers.find(({ name }) => name === layer || name.endsWith(`/${layer}`))?.options?.language
  const explained = await explainRecall(question, {
    store: passages,
    searched: { tenant, owner, agent },
    language: language as RecallLanguage | undefined,
    places,
  })
  if (explained === undefined) return { asked: [], passages: places.map(nothingAt), isOff: true }
  return { asked: explained.asked, passages: explained.passages.map(itemOf), isOff: false }
}

function nothingAt({ sessionId, turnId }: RecallRequest['places'][number]): RecalledItem {
  return { sessionId, turnId, passage: undefined, words: [], near: [] }
}

function itemOf({ place: { sessionId, turnId }, passage, words, near }: RecallReason): RecalledItem {
  if (passage === undefined) return { sessionId, turnId, passage, words, near }
  const { role, author, at, flow, text } = passage
  const labels = [...(flow.untrusted === true ? ['untrusted'] : []), ...(flow.private === true ? ['private'] : [])]
  return { sessionId, turnId, passage: { role, author, at, labels, text: shownText(text) }, words, near }
}

/** Returns the text without credentials, cut afterwards, because half of one is not found. */
function shownText(text: string): string {
  const read = text.slice(0, 2 * maxText)
  const hidden = hideSecrets(read, '[hidden]')
  if (hidden.length <= maxText && read.length === text.length) return hidden
  return `${hidden.slice(0, maxText)}… [${text.length} characters]`
}
