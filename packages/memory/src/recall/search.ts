import type { Passage, PassagePlace, PassageScope, PassageStore } from '@allium/store'
import { blindTerms } from '@allium/store/passages'
import type { Language } from './language.ts'
import { type RankedPlace, rank } from './rank.ts'
import { questionTerms } from './terms.ts'

/** Returns places in another order. */
export type Rerank = (
  question: string,
  ranked: readonly RankedPlace[],
  of: { readonly store: PassageStore; readonly scope: PassageScope },
) => Promise<PassagePlace[]>

interface Search {
  readonly store: PassageStore
  readonly scope: PassageScope
  readonly language: Language
  /** The most passages. */
  readonly limit: number
  /** Whether the model has the passage already. */
  isKnown(passage: Passage): boolean
  readonly rerank?: Rerank | undefined
}

/** The best places that are read, at most. What fits worse is not worth an answer. */
const mostPlaces = 400

/** Returns the passages that fit a question best, best first. None if the owner has no passages. */
export async function search(
  question: string,
  { store, scope, language, limit, isKnown, rerank }: Search,
): Promise<Passage[]> {
  const asked = questionTerms(question, language)
  const key = asked.length === 0 ? undefined : await store.key(scope)
  const [postings, { passages }] = await Promise.all([
    key ? store.postings(scope, blindTerms(key, asked)) : [],
    key ? store.count(scope) : { passages: 0 },
  ])
  const ranked = rank(postings, passages).slice(0, mostPlaces)
  const places = rerank ? await rerank(question, ranked, { store, scope }) : ranked.map(({ place }) => place)
  const found: Passage[] = []
  const page = limit * 2
  for (let from = 0; from < places.length && found.length < limit; from += page) {
    const read = await store.read(scope, places.slice(from, from + page))
    found.push(...read.filter((passage) => !isKnown(passage)))
  }
  return found.slice(0, limit)
}
