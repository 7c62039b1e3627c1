import { AlliumError } from '@allium/core'
import type { PassagePlace, PassageScope } from '../passage-store.ts'
import { checkOwner, checkStoreName } from '../store-name.ts'
import { isBlindTerm } from './check-passages.ts'

/** The maximum number of terms of a question, of its postings for one term, and of places that are read at once. */
const [maxTerms, maxPlaces] = [64, 1000]
export const maxPostings = 10_000

/** @throws AlliumError `store.key` */
export function checkScope({ tenant, owner, agent }: PassageScope): PassageScope {
  const scope = checkScopeOwner({ tenant, owner })
  return { ...scope, agent: checkStoreName('agent of the session', agent) }
}

/** @throws AlliumError `store.key`, also without an owner */
export function checkScopeOwner({ tenant, owner }: Pick<PassageScope, 'tenant' | 'owner'>) {
  return checkOwner({ tenant, owner: checkStoreName('owner', owner) })
}

/** Returns the different terms of a question. @throws AlliumError `options.invalid` */
export function checkTerms(terms: readonly string[]): string[] {
  if (!Array.isArray(terms) || terms.length > maxTerms || !terms.every(isBlindTerm))
    throw new AlliumError('options.invalid', `postings() takes up to ${maxTerms} terms that blindTerms() returned.`)
  return [...new Set(terms)]
}

/** @throws AlliumError `options.invalid`, `store.key` */
export function checkPlaces(places: readonly PassagePlace[]): PassagePlace[] {
  if (!Array.isArray(places) || places.length > maxPlaces)
    throw new AlliumError('options.invalid', `read() takes up to ${maxPlaces} places of passages. Read them in parts.`)
  // A ranker asks for the positions around a passage: those before the first and between two do not exist.
  return places.flatMap(({ sessionId, position }) =>
    Number.isInteger(position) && position >= 0 && position <= 2 ** 31 - 1
      ? [{ sessionId: checkStoreName('session id', sessionId), position }]
      : [],
  )
}
