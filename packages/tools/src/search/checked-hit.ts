import { isRecord } from '@allium/core/internal'
import type { SearchHit } from '@allium/store'

/** The longest text of a hit, and of its other fields. Sources may be functions that ask a server. */
const [longestText, longestField] = [20_000, 300]
const longestUrl = 2_000

/** Returns a hit within its bounds; undefined without a text. */
export function checkedHit(hit: unknown): SearchHit | undefined {
  if (!isRecord(hit) || typeof hit.text !== 'string' || hit.text.trim() === '') return undefined
  const { text, id, title, section, author, on, url, paragraphs, flow } = hit
  const fields = Object.entries({ id, title, section, author, on }).flatMap(([key, value]) =>
    typeof value === 'string' && value !== '' ? [[key, value.slice(0, longestField)]] : [],
  )
  return {
    text: text.slice(0, longestText),
    ...Object.fromEntries(fields),
    ...(isWebUrl(url) && { url }),
    ...(isRange(paragraphs) && { paragraphs }),
    ...(isRecord(flow) && { flow: { untrusted: flow.untrusted === true, private: flow.private === true } }),
  }
}

/** Another address could run code in a page that shows it. */
export function isWebUrl(url: unknown): url is string {
  return typeof url === 'string' && url.length <= longestUrl && /^https?:\/\//i.test(url)
}

function isRange(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((one) => Number.isSafeInteger(one))
}
