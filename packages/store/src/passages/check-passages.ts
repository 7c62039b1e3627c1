import { AlliumError, type FlowLabels } from '@allium/core'
import { describe, isRecord } from '@allium/core/internal'
import type { NewPassage, PassageTurn } from '../passage-store.ts'
import { checkStoreName } from '../store-name.ts'

/** The maximum number of terms of a passage, and the maximum count of one. */
const [maxTerms, maxCount] = [2048, 15]
/** The maximum number of words of a passage. More have no influence on a rank. */
const maxWords = 1_000_000

/** A passage within the bounds of every store. */
export interface CheckedPassage extends Omit<NewPassage, 'terms' | 'flow'> {
  readonly terms: readonly (readonly [term: string, count: number])[]
  readonly flow: FlowLabels
}

/**
 * Returns the passages that `append` stores with a turn, within their bounds. Not those of messages that the first turn copied.
 *
 * @param version the number of turns before it
 * @throws AlliumError `state.invalid` if one is invalid, `store.key` for the name of an author
 */
export function checkPassages(turn: PassageTurn, version: number): CheckedPassage[] {
  const { passages = [], copied = 0, from, messages } = turn
  if (!Array.isArray(passages)) throw invalid('list of passages', passages, 'a list')
  if (!isWhole(copied)) throw invalid('number `copied`', copied, 'the number of messages that it copied')
  let next = from
  const checked = passages.map((passage) => {
    const one = checkPassage(passage)
    if (one.index < next || one.index >= from + messages.length)
      throw invalid('index', one.index, 'that of a message of the turn, after the passage before')
    next = one.index + 1
    return one
  })
  return version === 0 ? checked.filter(({ index }) => index >= from + copied) : checked
}

function checkPassage(passage: NewPassage): CheckedPassage {
  if (!isRecord(passage)) throw invalid('passage', passage, 'an object')
  const { index, role, author, at, terms, words, flow = { untrusted: true } } = passage
  if (!isWhole(index)) throw invalid('index', index, 'that of a message')
  if (role !== 'user' && role !== 'assistant') throw invalid('role', role, '"user" or "assistant"')
  if (!Number.isFinite(at) || Math.abs(at) > Number.MAX_SAFE_INTEGER)
    throw invalid('time `at`', at, 'milliseconds since the epoch')
  if (!isWhole(words)) throw invalid('number of words', words, 'a whole number')
  if (!isRecord(terms)) throw invalid('terms', terms, 'the counts by blind term')
  if (!isRecord(flow)) throw invalid('labels `flow`', flow, 'an object')
  return {
    ...{ index, role, author: checkStoreName('author of the passage', author), at: Math.floor(at) },
    words: Math.min(words, maxWords),
    terms: Object.entries(terms).slice(0, maxTerms).map(checkTerm),
    flow: { ...(flow.untrusted === true && { untrusted: true }), ...(flow.private === true && { private: true }) },
  }
}

function checkTerm([term, count]: [string, number]): readonly [string, number] {
  if (!isBlindTerm(term)) throw invalid('term', term, 'one that blindTerms() returned')
  if (!isWhole(count) || count < 1) throw invalid('count of a term', count, 'a whole number from 1 on')
  return [term, Math.min(count, maxCount)]
}

export function isBlindTerm(term: unknown): term is string {
  return typeof term === 'string' && /^[0-9a-f]{16}$/.test(term)
}

function isWhole(n: unknown): n is number {
  return Number.isSafeInteger(n) && (n as number) >= 0
}

function invalid(field: string, value: unknown, wanted: string): AlliumError {
  return new AlliumError(
    'state.invalid',
    `The ${field} of a passage is ${typeof value === 'number' ? value : describe(value)}, but should be ${wanted}. Nothing was stored.`,
  )
}
