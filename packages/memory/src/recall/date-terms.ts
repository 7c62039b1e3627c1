import type { Language } from './language.ts'
import { wordsOf } from './words.ts'

/** No word has a colon, so a date term never equals a term of a text. */
const prefix = 'date:'

/**
 * Returns the date words of a message as terms: year, month, day and weekday in UTC, with names in English and in the language.
 *
 * @param at milliseconds since the epoch
 */
export function dateTermsOf(at: number, { locale }: Language): string[] {
  const date = new Date(at)
  const names = localesOf(locale).flatMap((known) => namesOf(known, date))
  return [...new Set([String(date.getUTCFullYear()), String(date.getUTCDate()), ...names])].map((word) => prefix + word)
}

/** Returns the date terms that a question names: months, weekdays, years and days. */
export function askedDateTerms(question: string, { locale }: Language): string[] {
  const known = new Set(localesOf(locale).flatMap(allNames))
  const words = wordsOf(question.slice(0, longestQuestion), locale).map((word) => word.replace(ordinal, '$1'))
  return [...new Set(words.filter((word) => known.has(word) || yearOrDay.test(word)))].map((word) => prefix + word)
}

const longestQuestion = 10_000
const ordinal = /^(\d{1,2})(?:st|nd|rd|th)$/
const yearOrDay = /^(?:(?:19|20)\d\d|[1-9]|[12]\d|3[01])$/

function localesOf(locale: string): readonly string[] {
  return locale === 'en' ? ['en'] : ['en', locale]
}

const formats = new Map<string, readonly Intl.DateTimeFormat[]>()

/** Each name by itself, because some languages join them to one word. */
function namesOf(locale: string, date: Date): string[] {
  let known = formats.get(locale)
  if (known === undefined) {
    const utc = { timeZone: 'UTC' } as const
    known = [{ month: 'long' } as const, { weekday: 'long' } as const].map(
      (name) => new Intl.DateTimeFormat(locale, { ...name, ...utc }),
    )
    formats.set(locale, known)
  }
  return known.flatMap((format) => wordsOf(format.format(date), locale))
}

const nameLists = new Map<string, readonly string[]>()

function allNames(locale: string): readonly string[] {
  let names = nameLists.get(locale)
  if (names === undefined) {
    // The first weeks of twelve months have all months and all weekdays.
    const dates = Array.from({ length: 84 }, (_, i) => new Date(Date.UTC(2024, i % 12, 1 + Math.floor(i / 12))))
    names = [...new Set(dates.flatMap((date) => namesOf(locale, date)))]
    nameLists.set(locale, names)
  }
  return names
}
