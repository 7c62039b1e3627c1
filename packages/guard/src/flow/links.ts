import { allowedAt, type MayLink } from './allowed-url.ts'
import { LineCleaner } from './line-cleaner.ts'

export type { MayLink } from './allowed-url.ts'

/** Hosts by name; `*.example.com` stands for what is below it. */
export function hostsOf(hosts: readonly string[]): MayLink {
  const known = hosts.map((host) => host.toLowerCase())
  return (host) => known.some((one) => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one))
}

export interface TextForm {
  /** Code may stay as it is. Only in text that every reader parses as Markdown, from its first line on. @default true */
  readonly code?: boolean
}

/**
 * Returns a text in which no Markdown parser finds a link, an image or an HTML tag, apart from links and images to allowed hosts.
 *
 * It does not parse. Readers use different parsers, with different options, and each reads an unfinished answer again and again.
 * Instead it breaks every sequence of characters that any of them could begin such an element with, whatever stands around it.
 * Only code is recognized, where all parsers agree that it is code.
 */
export function withoutLinks(text: string, may: MayLink, { code = true }: TextForm = {}): string {
  const cleaner = new LineCleaner(may, { code })
  return cleaner.take(text) + cleaner.cut()
}

/** Whether a whole text is an address with an allowed origin. */
export function isAllowedUrl(url: string, may: MayLink): boolean {
  const allowed = allowedAt(url, 0, may)
  return allowed !== undefined && (!allowed.isBare || allowed.url === url)
}
