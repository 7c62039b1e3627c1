import type { Detector, Span } from '@allium/shared/detect'
import { isAnnounced, phone } from './phone.ts'

/** `findPhoneNumbersInText` of libphonenumber-js. */
export type FindPhones = (
  text: string,
  options: { defaultCountry?: never; v2: true },
) => readonly { startsAt: number; endsAt: number }[]

/** Plain digits can be any number, or part of another number. */
function isPhoneFormat(text: string, { start, end }: Span): boolean {
  const digits = text.slice(start, end)
  const isPart = /[\w][.,/:-]?$/.test(text.slice(0, start).slice(-2)) || /^[.,/:-]?\w/.test(text.slice(end, end + 2))
  if (isPart || /^\d{4}[ ./-]\d{1,2}[ ./-]\d{1,2}|^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}:\d\d/.test(digits))
    return false
  if (digits.startsWith('+') || isAnnounced(text, start)) return true
  const groups = digits.match(/\d+/g) ?? []
  const isGrouped = groups.length > 1 && groups.slice(1).every((group) => group.length > 1)
  return isGrouped && groups.join('').length > 8 && !/^[\d.]*$/.test(digits)
}

/** Finds the library's matches in a text, as international numbers and as national numbers of each of these countries. */
export function libraryPhoneDetector(
  find: FindPhones,
  countries: readonly string[] = ['US', 'GB', 'DE', 'FR'],
): Detector {
  let cached: { text: string; spans: readonly Span[] } | undefined
  const cachedSpans = (text: string): readonly Span[] => {
    if (cached?.text !== text) cached = { text, spans: /\d[\d ()./-]{4,}\d/.test(text) ? findAllPhones(text) : [] }
    return cached.spans
  }
  return {
    ...phone,
    find: (text, from) => cachedSpans(text).find(({ start }) => start >= from),
  }

  function findAllPhones(text: string): readonly Span[] {
    const found = countries.flatMap((country) => find(text, { defaultCountry: country as never, v2: true }))
    return found
      .map(({ startsAt, endsAt }) => ({ start: startsAt, end: endsAt }))
      .filter((span) => isPhoneFormat(text, span))
      .sort((a, b) => a.start - b.start || b.end - a.end)
  }
}
