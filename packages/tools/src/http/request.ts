import type { IncomingMessage } from 'node:http'
import { AlliumError, isAlliumError } from '@allium/core'
import { AddressCheck, notPublic, type Resolve } from './address.ts'
import { readBody } from './body.ts'
import type { HeadersByOrigin } from './headers.ts'
import type { HostList } from './host-list.ts'
import { loadNode, type Node } from './node.ts'
import { requestRefused } from './request-refused.ts'

export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The limits of a request. */
export interface Allowed {
  readonly hosts: HostList
  readonly headers: HeadersByOrigin
  readonly methods: readonly string[]
  readonly maxBytes: number
  readonly maxRedirects: number
  readonly lookup: Resolve | undefined
}

export interface Answer {
  /** The final URL, after redirects. */
  readonly url: URL
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Uint8Array
}

/**
 * Sends a request and follows redirects, each checked like the first request.
 * @throws AlliumError `http.refused`, `http.failed`, with messages for the model
 */
export async function request(httpRequest: HttpRequest, allowed: Allowed, signal: AbortSignal): Promise<Answer> {
  const node = await loadNode()
  let step = { ...httpRequest, url: allowed.hosts.check(httpRequest.url) }
  for (let redirects = 0; ; redirects++) {
    const { url } = step
    try {
      const response = await send(node, step, allowed, signal)
      const { statusCode: status = 0, headers } = response
      const location = redirecting.has(status) ? headers.location : undefined
      if (location === undefined) {
        const body = await readBody(node, response, { method: step.method, maxBytes: allowed.maxBytes, signal })
        return { url, status, headers, body }
      }
      response.destroy()
      if (redirects >= allowed.maxRedirects)
        throw requestRefused(`${url.origin} redirects more than ${redirects} times.`)
      step = followRedirect(step, status, location, allowed)
    } catch (error) {
      throw signal.aborted ? signal.reason : failureAt(error, url)
    }
  }
}

const redirecting = new Set([301, 302, 303, 307, 308])

export type Step = Omit<HttpRequest, 'url'> & { readonly url: URL }

/** Sends one request to an address that is checked as it connects. Follows no redirect. */
export function send(node: Node, step: Step, allowed: Allowed, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, method, body } = step
  const { hosts, headers, lookup } = allowed
  const check = new AddressCheck(node)
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const refusal = node.net.isIP(literal) === 0 ? undefined : check.refusal(literal)
  if (refusal !== undefined) return Promise.reject(refusal)
  const options = { allowPrivateIPAddress: hosts.allowsPrivate(url) }
  const { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } = node.filtering
  const isUnencrypted = url.protocol === 'http:'
  // A separate agent per request: no socket stays open, and none is shared with a request to another host.
  const agent = isUnencrypted ? new RequestFilteringHttpAgent(options) : new RequestFilteringHttpsAgent(options)
  const sentHeaders = { 'user-agent': 'allium', accept: '*/*', ...typeOf(body), ...step.headers, ...headers.for(url) }
  const all = { ...sentHeaders, 'accept-encoding': 'gzip, deflate, br' }
  return new Promise((resolve, reject) => {
    const client = isUnencrypted ? node.http : node.https
    client
      .request(url, { agent, method, headers: all, signal, lookup: check.lookup(lookup) })
      .on('response', resolve)
      .on('error', reject)
      // Needed for example when the server switches protocols, which emits neither a response nor an error.
      .on('close', () => reject(new Error('The connection was closed without an answer.')))
      .end(body)
  })
}

/** Returns the request for a redirect. Headers from the model are dropped when the origin changes. */
export function followRedirect(step: Step, status: number, location: string, { hosts, methods }: Allowed): Step {
  const { url: from, method } = step
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (url === undefined || (from.protocol === 'https:' && url.protocol === 'http:')) throw crossOriginRedirect(from)
  try {
    hosts.check(url.href)
  } catch (cause) {
    throw crossOriginRedirect(from, cause)
  }
  const headers = url.origin === from.origin ? step.headers : {}
  const isGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  if (!isGet) return { ...step, url, headers }
  if (!methods.includes('GET')) throw crossOriginRedirect(from)
  const { 'content-type': _, ...rest } = headers
  return { url, method: 'GET', headers: rest, body: undefined }
}

/** Returns the content type of a body: JSON if it parses, otherwise text. */
function typeOf(body: string | undefined): Record<string, string> {
  if (body === undefined) return {}
  try {
    JSON.parse(body)
    return { 'content-type': 'application/json' }
  } catch {
    return { 'content-type': 'text/plain; charset=utf-8' }
  }
}

/** Returns an error with a message for the model that contains no address; the original error is the cause. */
export function failureAt(error: unknown, { origin }: URL): AlliumError {
  if (isAlliumError(error)) return error
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === undefined && /^DNS lookup .* is not allowed/.test(String(message))) return notPublic(error)
  const why = typeof code === 'string' ? ` (${code})` : ''
  return new AlliumError('http.failed', `${origin} could not be reached${why}.`, { cause: error, expose: true })
}

/** The error omits the redirect's target, which may be an internal address. */
function crossOriginRedirect({ origin }: URL, cause?: unknown): AlliumError {
  return requestRefused(`${origin} redirects to a request that is not allowed.`, cause)
}
