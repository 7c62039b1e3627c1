import { AlliumError, type SessionKey } from '@allium/core'
import type { PassagePlace, PassageScope, RewrittenTurn } from '../passage-store.ts'
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

/**
 * Returns the owner of a switch as rows have it: empty for a whole tenant.
 *
 * @throws AlliumError `store.key`, `options.invalid`
 */
export function checkSwitch({ tenant, owner }: { tenant: string; owner?: string | undefined }, at: number | undefined) {
  if (at !== undefined && !Number.isSafeInteger(at))
    throw new AlliumError(
      'options.invalid',
      `setOff() got the time ${String(at)}. Pass whole milliseconds since the epoch, or undefined to switch on.`,
    )
  if (owner === '')
    throw new AlliumError(
      'store.key',
      'setOff() got an empty owner. Pass the user of a person, or omit it for all persons of the tenant.',
      { details: { what: 'owner' } },
    )
  if (owner !== undefined) return checkScopeOwner({ tenant, owner })
  return { ...checkOwner({ tenant }), owner: '' }
}

/** @throws AlliumError `store.key`, `options.invalid` */
export function checkRewrite({ sessionId, ...scope }: SessionKey, { version, turns }: RewrittenTurn): SessionKey {
  if (![version, turns].every(isCount) || version >= turns)
    throw new AlliumError(
      'options.invalid',
      `rewrite() got the turn ${String(version)} of ${String(turns)}. Pass whole numbers: 0 for the first turn, below the number of turns.`,
    )
  return { ...checkScope(scope), sessionId: checkStoreName('session id', sessionId) }
}

function isCount(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 0
}
