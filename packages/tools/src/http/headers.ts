import { misconfigured } from '@allium/core'
import { hide } from '../hide.ts'

/** Headers by origin. */
export type HttpHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Headers with API keys. Each is sent only to its own origin, and its value is removed from all outgoing text. */
export class HeadersByOrigin {
  readonly #byOrigin = new Map<string, Readonly<Record<string, string>>>()
  readonly #secrets: readonly string[]

  /** @throws AlliumError `layer.config` for an invalid origin; the error omits the values */
  constructor(as: string, given: HttpHeaders = {}) {
    const secrets = new Set<string>()
    for (const [key, headers] of Object.entries(given)) {
      const text = key.includes('://') ? key : `https://${key}`
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (url === undefined || url.href !== `${url.origin}/` || key.includes('*'))
        throw misconfigured(as, `has headers for "${key}", which is not an origin. Use "https://host".`)
      this.#byOrigin.set(url.origin, lowerCaseKeys(headers))
      for (const value of Object.values(headers)) for (const token of [value, ...value.split(/\s+/)]) secrets.add(token)
    }
    // "Basic" alone, or a version, is not a secret, and removing it would make texts unreadable.
    this.#secrets = [...secrets].filter(({ length }) => length >= 8)
  }

  for({ origin }: URL): Readonly<Record<string, string>> {
    return this.#byOrigin.get(origin) ?? {}
  }

  hide(text: string): string {
    return hide(text, this.#secrets)
  }
}

function lowerCaseKeys(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
