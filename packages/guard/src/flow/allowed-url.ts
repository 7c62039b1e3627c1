/** Whether links may lead to a host. */
export type HostFilter = (host: string) => boolean

/**
 * The only form of address that is kept. No part of it is ambiguous or ends it earlier for some parsers. Separators between
 * letters and digits are single, because two in a row end an address for some parsers, and `_x_` is emphasis.
 */
const host = '[a-z0-9-]+(?:\\.[a-z0-9-]+)*'
const word = '[a-z0-9]+'
const separator = '(?:=&|/[-?#]/?|[/?#&=.,:+%_-])'
const path = `[/?#](?:${word}(?:${separator}${word})*(?:/|=(?!\\w))?)?`
export const urlPattern = `https?://${host}(?::\\d{1,5}(?![\\d@]))?(?:${path})?`
const urlAtIndex = new RegExp(urlPattern, 'iy')
const hostPattern = new RegExp(`^https?://(${host})`, 'i')

/** An allowed address at a position of a text. */
export interface AllowedUrl {
  readonly url: string
  /** Only a host: the characters after it could become part of its name. */
  readonly isBare: boolean
}

export function parseAllowedUrl(text: string, index: number, isAllowedHost: HostFilter): AllowedUrl | undefined {
  urlAtIndex.lastIndex = index
  const url = urlAtIndex.exec(text)?.[0]
  const name = url === undefined ? undefined : hostPattern.exec(url)?.[1]
  if (url === undefined || name === undefined || !isAllowedHost(name.toLowerCase())) return undefined
  return { url, isBare: !/[/?#]/.test(url.slice(url.indexOf('//') + 2)) }
}
