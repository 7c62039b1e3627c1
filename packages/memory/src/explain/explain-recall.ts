import type { Passage, PassageScope, PassageStore, Posting } from '@allium/store'
import { blindTerms } from '@allium/store/passages'
import { loadLanguage, type RecallLanguage } from '../recall/language.ts'
import { withoutNumbers } from '../recall/placeholders.ts'
import { askedWords } from './asked-words.ts'
import { passagesAt, type RecalledPlace, reach } from './positions.ts'

export interface ExplainOptions {
  /** The passages of the store that the agent recalls from. */
  readonly store: PassageStore
  /** Whose conversations were searched. */
  readonly searched: PassageScope
  /** The language of the layer. @default 'en' */
  readonly language?: RecallLanguage | undefined
  /** The recalled places, as the event `memory:recall` has them: up to 100. */
  readonly places: readonly RecalledPlace[]
}

/** Why a passage was recalled. */
export interface RecallReason {
  readonly place: RecalledPlace
  /** The passage as the store has it now, with the text as the model gets it. Undefined if it was deleted or changed since. */
  readonly passage: Passage | undefined
  /** The words of the question that it has, the rarest first. */
  readonly words: readonly string[]
  /** The words that only messages around it have, with the distance to the nearest: -1 is the message before, 1 the one after. */
  readonly near: readonly { readonly word: string; readonly distance: number }[]
}

export interface RecallExplanation {
  /** The words that the question looks for, without stop words. */
  readonly asked: readonly string[]
  /** In the order of the places. */
  readonly passages: readonly RecallReason[]
}

/** A word of the question, with the places that have it. */
interface Found {
  readonly word: string
  readonly postings: readonly Posting[]
}

/**
 * Explains what `memory.recall` found for a question: each passage with the words of the question in it and around it. It looks at the
 * store as it is now. For tools of developers.
 *
 * @returns undefined if the owner has no key: nothing is stored, it was erased, or memory is off
 * @throws AlliumError as the methods of the store do
 */
export async function explainRecall(
  question: string,
  { store, searched: scope, language = 'en', places: given }: ExplainOptions,
): Promise<RecallExplanation | undefined> {
  const places = given.slice(0, 100)
  const asked = askedWords(question, await loadLanguage(language))
  const key = await store.key(scope)
  if (key === undefined) return undefined
  const blind = blindTerms(
    key,
    asked.map(({ term }) => term),
  )
  const postings = blind.length === 0 ? [] : await store.postings(scope, blind)
  const found = asked
    .map(({ word }, i) => ({ word, postings: postings.filter(({ term }) => term === blind[i]) }))
    .sort((a, b) => a.postings.length - b.postings.length)
  const passages = await passagesAt(places, postings, { store, scope })
  return {
    asked: asked.map(({ word }) => word),
    passages: places.map((place) => reasonOf(place, passages.get(place), found)),
  }
}

function reasonOf(place: RecalledPlace, passage: Passage | undefined, found: readonly Found[]): RecallReason {
  if (passage === undefined) return { place, passage, words: [], near: [] }
  const distances = found.flatMap(({ word, postings }) => {
    const distance = nearest(postings, passage)
    return distance === undefined ? [] : [{ word, distance }]
  })
  const words = distances.filter(({ distance }) => distance === 0).map(({ word }) => word)
  const near = distances.filter(({ distance }) => distance !== 0)
  return { place, passage: { ...passage, text: withoutNumbers(passage.text) }, words, near }
}

/** Returns the distance to the nearest message with the word; the one before if two are as near. Undefined if none is near enough to count. */
function nearest(postings: readonly Posting[], { sessionId, position }: Passage): number | undefined {
  return postings
    .filter((posting) => posting.sessionId === sessionId && Math.abs(posting.position - position) <= reach)
    .map((posting) => posting.position - position)
    .sort((a, b) => Math.abs(a) - Math.abs(b) || a - b)[0]
}
