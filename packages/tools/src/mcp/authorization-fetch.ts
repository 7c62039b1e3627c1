import type { Logger } from '@allium/core'
import { readBody } from '../http/body.ts'
import { HeadersByOrigin } from '../http/headers.ts'
import { HostList } from '../http/host-list.ts'
import { loadNode, type Node } from '../http/node.ts'
import { failureAt, send } from '../http/request.ts'
import { requestRefused } from '../http/request-refused.ts'
import { readUpTo } from './bounded-response.ts'
import { namesPrivateHost } from './private-host.ts'

type Fetch = typeof globalThis.fetch

interface Guard {
  readonly name: string
  /** The server's own URL, from the developer. */
  readonly place: URL
  /** The developer's fetch; undefined for one that checks the address of each connection. */
  readonly fetch: Fetch | undefined
  /** Hosts with private addresses that the developer allows. */
  readonly allowPrivate: boolean | readonly string[]
  /** Timeout of one request, in milliseconds. */
  readonly timeout: number
  readonly logger: Logger
}

/** The maximum size of a response: metadata, a registration or tokens. */
const maxBytes = 1_000_000

/**
 * Sends the requests of an authorization. The server names their URLs, so hosts with private addresses are rejected, except the
 * server's own host and those that the developer allows.
 */
export function authorizationFetch({ name, place, fetch, allowPrivate, timeout, logger }: Guard): Fetch {
  const as = `tools:mcp:${name}`
  const named = new HostList(as, ['*'], typeof allowPrivate === 'boolean' ? [] : allowPrivate)
  return async (to, init = {}) => {
    const url = new URL(to instanceof Request ? to.url : to)
    const timeoutSignal = AbortSignal.timeout(timeout)
    const signal = init.signal ? AbortSignal.any([init.signal, timeoutSignal]) : timeoutSignal
    if (url.origin === place.origin) return limitBody(await (fetch ?? globalThis.fetch)(url, { ...init, signal }))
    try {
      const isAllowed = allowPrivate === true || named.allowsPrivate(url)
      if (!isAllowed && namesPrivateHost(url)) throw requestRefused('The host leads to an address that is not public.')
      const node = fetch === undefined ? await loadNode().catch(() => undefined) : undefined
      if (node === undefined) return limitBody(await (fetch ?? globalThis.fetch)(url, { ...init, signal }))
      const hosts = isAllowed ? new HostList(as, [], [url.host]) : named
      return await sendFromNode(node, url, init, { as, hosts, signal })
    } catch (error) {
      const failure = failureAt(error, url)
      if (failure.code === 'http.refused')
        logger.warn(
          `A request to ${url.origin}, which the MCP server "${name}" named for its authorization, was not made: ${failure.message} If the host is yours, name it in allowPrivate.`,
        )
      throw failure
    }
  }
}

async function sendFromNode(
  node: Node,
  url: URL,
  init: RequestInit,
  { as, hosts, signal }: { as: string; hosts: HostList; signal: AbortSignal },
): Promise<Response> {
  const { method = 'GET', body } = init
  const step = { url, method, headers: Object.fromEntries(new Headers(init.headers)), body: body?.toString() }
  const allowed = {
    hosts,
    headers: new HeadersByOrigin(as),
    methods: [method],
    maxBytes,
    maxRedirects: 0,
    lookup: undefined,
  }
  const response = await send(node, step, allowed, signal)
  const { statusCode: status = 502, headers } = response
  const bytes = await readBody(node, response, { method, maxBytes, signal })
  const isEmpty = bytes.byteLength === 0 || status === 204 || status === 304
  const headerPairs = Object.entries(headers).flatMap(([key, value]) =>
    [value ?? []].flat().map((one) => [key, one] as [string, string]),
  )
  return new Response(isEmpty ? null : Uint8Array.from(bytes), { status, headers: headerPairs })
}

async function limitBody(response: Response): Promise<Response> {
  const { body, status, statusText, headers } = response
  if (body === null || (status >= 300 && status < 400)) return response
  const { bytes, isWhole } = await readUpTo(body, maxBytes)
  if (!isWhole) throw requestRefused(`The answer is longer than ${maxBytes} bytes.`)
  return new Response(bytes, { status, statusText, headers })
}
