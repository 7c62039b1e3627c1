import { askedDateTerms, dateTermsOf } from './date-terms.ts'
import type { Language } from './language.ts'
import { withoutNumbers } from './placeholders.ts'
import { wordsOf } from './words.ts'

/** How often each term occurs. */
type TermCounts = Map<string, number>

/** The text beyond this is not read, so that a message of megabytes does not hold up the process. */
const longestText = 100_000
/** The most terms of a question that a store looks up. */
const mostAsked = 64

/** Returns the terms of a message: its date words, and the stems of its text without stop words. */
export function messageTerms(text: string, at: number, language: Language): TermCounts {
  const counts: TermCounts = new Map(dateTermsOf(at, language).map((term) => [term, 1]))
  for (const stem of stemsOf(text, language)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  return counts
}

/** Returns the different terms of a question, its date words first. */
export function questionTerms(question: string, language: Language): string[] {
  const terms = new Set([...askedDateTerms(question, language), ...stemsOf(question, language)])
  return [...terms].slice(0, mostAsked)
}

/** Returns the stems of a text without stop words. */
export function stemsOf(text: string, language: Language): string[] {
  return wordsOf(withoutNumbers(text.slice(0, longestText)), language.locale).flatMap((word) => {
    const plain = word.replace(/'s?$/, '')
    return language.isStopWord(word) || language.isStopWord(plain) ? [] : [language.stem(plain)]
  })
}
