import { type HostFilter, parseAllowedUrl } from './allowed-url.ts'
import { LineCleaner } from './line-cleaner.ts'

export type { HostFilter } from './allowed-url.ts'

/** Matches hosts by name; `*.example.com` matches its subdomains. */
export function hostFilter(hosts: readonly string[]): HostFilter {
  const patterns = hosts.map((host) => host.toLowerCase())
  return (host) =>
    patterns.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern))
}

export interface CleanOptions {
  /** Leaves code unchanged. Use it only for text that every reader parses as Markdown from its first line. @default true */
  readonly code?: boolean
}

/**
 * Returns a text in which no Markdown parser finds a link, an image or an HTML tag, except links and images to allowed hosts.
 *
 * It does not parse. Readers use different parsers with different options, and each parser reads an unfinished answer repeatedly.
 * Instead it breaks every character sequence that could begin such an element in any parser, regardless of context. It recognizes
 * only text that all parsers treat as code.
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
