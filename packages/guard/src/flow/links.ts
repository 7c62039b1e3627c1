import { type HostFilter, parseAllowedUrl } from './allowed-url.ts'
import { LineCleaner } from './line-cleaner.ts'

export type { HostFilter } from './allowed-url.ts'

/** Hosts by name; `*.example.com` stands for what is below it. */
export function hostFilter(hosts: readonly string[]): HostFilter {
  const patterns = hosts.map((host) => host.toLowerCase())
  return (host) =>
    patterns.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern))
}

export interface CleanOptions {
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
export function removeLinks(text: string, isAllowedHost: HostFilter, { code = true }: CleanOptions = {}): string {
  const cleaner = new LineCleaner(isAllowedHost, { code })
  return cleaner.push(text) + cleaner.flush()
}

/** Whether a whole text is an address with an allowed origin. */
export function isAllowedUrl(url: string, isAllowedHost: HostFilter): boolean {
  const allowed = parseAllowedUrl(url, 0, isAllowedHost)
  return allowed !== undefined && (!allowed.isBare || allowed.url === url)
}
