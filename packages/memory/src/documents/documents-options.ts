import { AlliumError, type Clock, type FlowLabels, systemClock } from '@allium/core'
import { checkOptions, describe, isRecord, type KeysOf } from '@allium/core/internal'
import type { PassageStore, SessionStore } from '@allium/store'
import { type RecallLanguage, recallLanguages } from '../recall/language.ts'
import { type DocumentFormat, documentFormats } from './load-text.ts'

export interface DocumentsOptions {
  /** A store with sessions and passages: `memoryStore()`, `sqlite()` or `postgres()`. */
  store: { readonly sessions: SessionStore; readonly passages: PassageStore }
  /** The name of the collection: letters, digits, `-` and `_`. Documents of two names are never found together. */
  name: string
  /** The language of the documents, for stems and stop words: a code of two letters. @default 'en' */
  language?: RecallLanguage | undefined
  /** The maximum size of a document in bytes of UTF-8, up to 10,000,000. @default 1_000_000 */
  maxBytes?: number | undefined
  /** The maximum number of chunks of a document, up to 10,000. @default 1_000 */
  maxChunks?: number | undefined
  /** The maximum number of documents of a tenant, and of each person in it. They are counted before each new one. @default 1_000 */
  maxDocuments?: number | undefined
  /** @default the system clock */
  clock?: Clock | undefined
}

/** The tenant whose document it is, or the person in it. */
export interface DocumentOwner {
  readonly tenant: string
  /** The person who alone finds the document. Leave it out for a document of the whole tenant. */
  readonly owner?: string
}

export interface PutOptions extends DocumentOwner {
  /** @default 'text' */
  format?: DocumentFormat | undefined
  /** For citations. @default the title in the text, else the id */
  title?: string | undefined
  /** The address of the document, for citations: `http:` or `https:`. */
  url?: string | undefined
  /** Labels of the text for `guard.flow`. Pass `{}` for text that only your own people can write. @default { untrusted: true } */
  flow?: FlowLabels | undefined
}

export type ResolvedDocumentsOptions = ReturnType<typeof resolveDocumentsOptions>

const optionKeys: KeysOf<DocumentsOptions> = {
  ...{ store: true, name: true, language: true, maxBytes: true, maxChunks: true, maxDocuments: true, clock: true },
}
const putKeys: KeysOf<PutOptions> = {
  ...{ tenant: true, owner: true, format: true, title: true, url: true, flow: true },
}

/** @throws AlliumError `options.invalid` */
export function resolveDocumentsOptions(options: DocumentsOptions) {
  checkOptions(options, optionKeys, 'documents()', 'options.invalid')
  const { store, name, language = 'en', maxBytes = 1e6, maxChunks = 1000, maxDocuments = 1000 } = options
  const { clock = systemClock } = options
  if (!isRecord(store) || !isRecord(store.sessions) || !isRecord(store.passages))
    throw invalid('documents() needs the option store, with sessions and passages, such as sqlite() returns.')
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    throw invalid(`documents() got the name ${describe(name)}. Use up to 64 letters, digits, "-" and "_".`)
  if (!recallLanguages.includes(language))
    throw invalid(`documents() got the language ${describe(language)}. It knows ${recallLanguages.join(', ')}.`)
  for (const [key, value, most] of [
    ['maxBytes', maxBytes, 1e7],
    ['maxChunks', maxChunks, 10_000],
    ['maxDocuments', maxDocuments, Number.MAX_SAFE_INTEGER],
  ] as const)
    if (!Number.isSafeInteger(value) || value < 1 || value > most)
      throw invalid(`documents() got ${key}: ${describe(value)}. Pass a whole number from 1 to ${most}.`)
  return {
    sessions: store.sessions,
    passages: store.passages,
    name,
    language,
    maxBytes,
    maxChunks,
    maxDocuments,
    clock,
  }
}

/** @throws AlliumError `options.invalid` */
export function checkPut(id: string, text: string, options: PutOptions, maxBytes: number): void {
  checkId(id)
  checkOptions(options, putKeys, 'put()', 'options.invalid')
  checkDocumentOwner('put()', options)
  const { format, title, url, flow } = options
  if (typeof text !== 'string')
    throw invalid(`put() got ${describe(text)} as the text of the document "${id}". Pass a string.`)
  const { byteLength } = new TextEncoder().encode(text)
  if (byteLength > maxBytes)
    throw invalid(
      `The document "${id}" has ${byteLength} bytes, and ${maxBytes} are the maximum. Split it, or raise maxBytes.`,
    )
  if (format !== undefined && !documentFormats.includes(format))
    throw invalid(
      `put() got the format ${describe(format)}. It reads ${documentFormats.join(', ')}: turn others into text first.`,
    )
  if (title !== undefined && (typeof title !== 'string' || title.length > 1_000))
    throw invalid(`put() got the title ${describe(title)}. Pass a text of at most 1,000 characters.`)
  if (url !== undefined && !isWebUrl(url))
    throw invalid(`put() got the url ${describe(url)}. Pass an http: or https: address of at most 2,000 characters.`)
  if (flow !== undefined) checkFlow(flow)
}

/** An owner without a name would make a document of one person one of the whole tenant. @throws AlliumError `options.invalid` */
export function checkDocumentOwner(what: string, of: DocumentOwner): void {
  if (!isRecord(of) || typeof of.tenant !== 'string' || of.tenant === '')
    throw invalid(`${what} needs the tenant of the documents: { tenant: 'acme' }.`)
  if ('owner' in of && (typeof of.owner !== 'string' || of.owner === ''))
    throw invalid(
      `${what} got the owner ${describe(of.owner)}. Pass the user's id, or leave owner out for the whole tenant.`,
    )
}

/** @throws AlliumError `options.invalid` */
export function checkId(id: unknown): void {
  if (typeof id !== 'string' || id === '') throw invalid(`The id of a document is ${describe(id)}. Pass a text.`)
}

function checkFlow(flow: FlowLabels): void {
  const isValid =
    isRecord(flow) && Object.entries(flow).every(([key, on]) => labels.has(key) && typeof on === 'boolean')
  if (!isValid) throw invalid(`put() got the flow ${describe(flow)}. Use { untrusted?: boolean, private?: boolean }.`)
}

const labels = new Set(['untrusted', 'private'])

function isWebUrl(url: unknown): boolean {
  return typeof url === 'string' && url.length <= 2_000 && /^https?:$/.test(protocolOf(url))
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol
  } catch {
    return ''
  }
}

export function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
