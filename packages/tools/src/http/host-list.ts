import { type AlliumError, misconfigured } from '@allium/core'
import { requestRefused } from './request-refused.ts'

interface Pattern {
  /** Without the star: `.example.com`. */
  readonly host: string
  readonly kind: 'exact' | 'below' | 'any'
  /** Undefined: the default port of the scheme. */
  readonly port: string | undefined
}

/** Decides which URLs are allowed, before their addresses are known. */
export class HostList {
  readonly names: readonly string[]
  readonly #public: readonly Pattern[]
  readonly #private: readonly Pattern[]

  /** @throws AlliumError `layer.config` for an empty list, and for invalid hosts */
  constructor(as: string, hosts: readonly string[] = [], allowPrivate: readonly string[] = []) {
    this.names = [...hosts, ...allowPrivate]
    if (this.names.length === 0)
      throw misconfigured(as, 'needs hosts: names such as "api.example.com", or "*" for any.')
    this.#public = hosts.map((host) => patternOf(as, host))
    this.#private = allowPrivate.map((host) => patternOf(as, host))
    const loose = this.#private.findIndex(({ kind }) => kind !== 'exact')
    if (loose >= 0)
      throw invalidHost(as, String(allowPrivate[loose]), 'Name each host of allowPrivate exactly, without "*".')
  }

  /**
   * Returns the URL if it is allowed.
   * @throws AlliumError `http.refused`, with a message for the model
   */
  check(text: string): URL {
    if (!URL.canParse(text)) throw requestRefused('The URL is not absolute.')
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw requestRefused(`The URL begins with "${url.protocol.slice(0, 20)}"; only http: and https: are allowed.`)
    if (url.username !== '' || url.password !== '')
      throw requestRefused('A URL must not contain a user name or password.')
    if (!this.#public.some((pattern) => matchesPattern(pattern, url)) && !this.allowsPrivate(url))
      throw requestRefused(`The host "${url.host.slice(0, 200)}" is not allowed. Hosts: ${this.names.join(', ')}.`)
    return url
  }

  allowsPrivate(url: URL): boolean {
    return this.#private.some((pattern) => matchesPattern(pattern, url))
  }
}

function matchesPattern({ host, kind, port }: Pattern, { hostname, protocol, port: requestedPort }: URL): boolean {
  const usual = protocol === 'https:' ? '443' : '80'
  if ((port ?? usual) !== (requestedPort || usual)) return false
  if (kind === 'any') return true
  return kind === 'exact' ? hostname === host : hostname.endsWith(host) && hostname.length > host.length
}

function patternOf(as: string, text: string): Pattern {
  const { star, rest, port } = /^(?<star>\*\.)?(?<rest>[^*]+?)(?::(?<port>\d+))?$/.exec(text)?.groups ?? {}
  const anyHostPattern = /^\*(?::(?<port>\d+))?$/.exec(text)
  if (anyHostPattern !== null) return { host: '', kind: 'any', port: anyHostPattern.groups?.port }
  // Parsed with `http://`, because a URL with an unknown scheme accepts characters that are invalid in a host name.
  const url = rest === undefined || !URL.canParse(`http://${rest}`) ? undefined : new URL(`http://${rest}`)
  if (url === undefined || url.href !== `http://${url.host}/` || url.port !== '')
    throw invalidHost(as, text, 'Use "api.example.com", "*.example.com" or "*", with or without a port.')
  return {
    host: star === undefined ? url.hostname : `.${url.hostname}`,
    kind: star === undefined ? 'exact' : 'below',
    port,
  }
}

function invalidHost(as: string, host: string, fix: string): AlliumError {
  return misconfigured(as, `has the host "${host}", which is invalid. ${fix}`)
}
