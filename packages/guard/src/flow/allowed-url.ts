/** Says of a host whether links may lead there. */
export type HostFilter = (host: string) => boolean

/**
 * The only form of an address that is kept: nothing in it can be read in two ways, or ends it earlier for one parser than for
 * another. Single separators between letters and digits: two in a row end an address for some, and `_x_` is emphasis.
 */
const host = '[a-z0-9-]+(?:\\.[a-z0-9-]+)*'
const word = '[a-z0-9]+'
const separator = '(?:=&|/[-?#]/?|[/?#&=.,:+%_-])'
const path = `[/?#](?:${word}(?:${separator}${word})*(?:/|=(?!\\w))?)?`
export const urlPattern = `https?://${host}(?::\\d{1,5}(?![\\d@]))?(?:${path})?`
const urlAtIndex = new RegExp(urlPattern, 'iy')
const hostPattern = new RegExp(`^https?://(${host})`, 'i')

/** An allowed address as it begins at a place of a text. */
export interface AllowedUrl {
  readonly url: string
  /** Only a host: characters behind it could become a part of its name. */
  readonly isBare: boolean
}

export function parseAllowedUrl(text: string, index: number, isAllowedHost: HostFilter): AllowedUrl | undefined {
  urlAtIndex.lastIndex = index
  const url = urlAtIndex.exec(text)?.[0]
  const name = url === undefined ? undefined : hostPattern.exec(url)?.[1]
  if (url === undefined || name === undefined || !isAllowedHost(name.toLowerCase())) return undefined
  return { url, isBare: !/[/?#]/.test(url.slice(url.indexOf('//') + 2)) }
}
