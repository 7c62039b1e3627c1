import type { Language } from '../recall/language.ts'
import { withoutNumbers } from '../recall/placeholders.ts'
import { questionTerms, stemsOf } from '../recall/terms.ts'
import { wordsOf } from '../recall/words.ts'

/** A term that a question looks for, as the question writes it. */
interface AskedWord {
  readonly term: string
  readonly word: string
}

const date = /^date:/

/** Returns the words of a question that recall looks for: date words first, then those of the text. Words with the same stem are one. */
export function askedWords(question: string, language: Language): AskedWord[] {
  const terms = questionTerms(question, language)
  const words = new Map<string, string>()
  for (const word of wordsOf(withoutNumbers(question), language.locale))
    for (const stem of stemsOf(word, language)) if (!words.has(stem)) words.set(stem, word)
  return terms.map((term) => ({
    term,
    word: date.test(term) ? `${term.replace(date, '')} (date)` : (words.get(term) ?? term),
  }))
}
