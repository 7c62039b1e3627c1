import { AlliumError, type Clock, systemClock } from '@allium/core'
import { checkOptions, describe, isRecord, type KeysOf } from '@allium/core/internal'
import type { PassageStore, SessionStore } from '@allium/store'
import { type RecallLanguage, recallLanguages } from '../recall/language.ts'

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

export type ResolvedDocumentsOptions = ReturnType<typeof resolveDocumentsOptions>

const optionKeys: KeysOf<DocumentsOptions> = {
  ...{ store: true, name: true, language: true, maxBytes: true, maxChunks: true, maxDocuments: true, clock: true },
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

export function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
