import type { Scorer } from '../run/run.ts'
import { wanted } from './wanted.ts'

/**
 * Scores 1 if the answer contains the texts, without regard to case.
 *
 * @param texts one text or several, all of which are needed @default the case's `expected`, a text or a list of texts
 * @throws AlliumError `options.invalid` if there is neither; such a trial is invalid
 */
export function contains(...texts: string[]): Scorer {
  return ({ text, expected }) => {
    const missing = wanted('contains()', texts, expected).filter((one) => !fold(text).includes(fold(one)))
    return missing.length === 0
      ? { score: 1 }
      : { score: 0, reason: `It does not contain ${missing.map((one) => JSON.stringify(one)).join(', ')}.` }
  }
}

/** Scores 1 if the answer is one of these texts, without regard to case, and to spaces around it. @param texts @default `expected` */
export function equals(...texts: string[]): Scorer {
  return ({ text, expected }) => {
    const allowed = wanted('equals()', texts, expected)
    return allowed.some((one) => fold(one) === fold(text)) ? { score: 1 } : { score: 0, reason: 'It is another text.' }
  }
}

/** Scores 1 if the answer matches the regular expression. */
export function matches(pattern: RegExp): Scorer {
  // Without `g` and `y`, an expression has no memory of the text before.
  const stateless = new RegExp(pattern, pattern.flags.replace(/[gy]/g, ''))
  return ({ text }) => (stateless.test(text) ? { score: 1 } : { score: 0, reason: `It does not match ${pattern}.` })
}

function fold(text: string): string {
  return text.trim().normalize('NFC').toLowerCase()
}
