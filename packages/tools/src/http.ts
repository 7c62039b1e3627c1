import {
  type AnyTool,
  defineMiddleware,
  layerOptions,
  misconfigured,
  option,
  type ToolExecution,
  type TypedMiddleware,
  toolResult,
} from '@allium/core'
import { contentOf } from './http/content.ts'
import { HeadersByOrigin, type HttpHeaders } from './http/headers.ts'
import { HostList } from './http/host-list.ts'
import { type Allowed, request } from './http/request.ts'
import { requestRefused } from './http/request-refused.ts'

const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type HttpMethod = (typeof allMethods)[number]

/** Gives the addresses that a host name stands for. */
export type HttpLookup = (hostname: string) => Promise<readonly string[]>

export interface HttpOptions {
  /**
   * What may be asked: `api.example.com`, `*.example.com` (what is below it, not itself), `*` (any). A port that is not
   * the usual one of http or https is named: `api.example.com:8443`.
   */
  hosts: readonly string[]
  /** Hosts that may also be at a private address, each by its exact name, with its port: `127.0.0.1:3000`. They need not stand in `hosts`. @default none */
  allowPrivate?: readonly string[] | undefined
  /** @default ['GET'] */
  methods?: readonly HttpMethod[] | undefined
  /**
   * Headers that are added, by origin (`https://api.example.com`; a host alone stands for https): keys and tokens. They go
   * to that origin alone, also after a redirect, and no text that the model gets has their values. A function returns them for
   * each call, from the principal of its session.
   */
  headers?: HttpHeaders | ((principal: unknown) => HttpHeaders | Promise<HttpHeaders>) | undefined
  /** Headers that the model may set, by name. @default none */
  requestHeaders?: readonly string[] | undefined
  /** Media types besides text that the model gets as images and files: `image/png`, `image/*`. @default none */
  files?: readonly string[] | undefined
  /** The longest body of an answer in bytes, unpacked; a longer one is refused. @default 1_000_000 */
  maxBytes?: number | undefined
  /** @default 5 */
  maxRedirects?: number | undefined
  /** Milliseconds for one call, redirects included. @default the agent's toolTimeout */
  timeout?: number | undefined
  /** Resolves names. What it gives is checked like any address. @default the system's */
  lookup?: HttpLookup | undefined
  /** What the tool is called. @default 'http_request' */
  name?: string | undefined
  /** What the model reads. @default says what it may ask */
  description?: string | undefined
  requireApproval?: AnyTool['requireApproval'] | undefined
  /** The layer's name. @default 'tools:http:' and the tool's name */
  as?: string | undefined
}

const readOptions = layerOptions<HttpOptions>('tools:http', {
  hosts: option.required(option.any, 'names such as "api.example.com", or "*" for any'),
  allowPrivate: option.any,
  methods: option.some(option.oneOf(...allMethods)),
  headers: option.either(option.object, option.fn),
  requestHeaders: option.list(option.text),
  files: option.list(option.text),
  maxBytes: option.number({ above: 0 }),
  maxRedirects: option.number({ from: 0 }),
  timeout: option.number({ above: 0 }),
  lookup: option.fn,
  name: option.text,
  description: option.text,
  requireApproval: option.either(option.flag, option.fn),
})

/**
 * Gives the agent a tool that makes HTTP requests, to named hosts and to public addresses alone.
 *
 * The address that a name resolves to is checked where it is connected to, for each redirect again. It needs Node. What
 * comes back is the word of another party: put `guard.injection` around it.
 *
 * @throws AlliumError `layer.config` for options that make no sense
 * @example
 * agent.use(tools.http({ hosts: ['api.example.com'], headers: { 'api.example.com': { authorization: `Bearer ${token}` } } }))
 */
export function http(given: HttpOptions): TypedMiddleware<{}> {
  const options = readOptions(given)
  const { name = 'http_request', as = `tools:http:${name}`, timeout, requireApproval } = options
  const { maxBytes = 1_000_000, maxRedirects = 5, methods = ['GET'], requestHeaders = [], files = [] } = options
  const framing = requestHeaders.find((header) => reserved.test(header))
  if (framing !== undefined)
    throw misconfigured(as, `needs other requestHeaders than "${framing}", which is set for the request.`)
  const hosts = new HostList(as, options.hosts, options.allowPrivate)
  const headersFor = headersOf(as, options.headers)
  const bounds = { hosts, methods, maxBytes, maxRedirects, lookup: options.lookup }

  const tool: AnyTool = {
    name,
    flow: { untrusted: true, sends: true },
    description: options.description ?? `Makes an HTTP request and gives the answer. Hosts: ${hosts.names.join(', ')}.`,
    jsonSchema: schemaFor(methods, requestHeaders),
    ...(timeout !== undefined && { timeout }),
    ...(requireApproval !== undefined && { requireApproval }),
    async execute(given: Record<string, unknown>, { signal, principal }: ToolExecution) {
      const requestArgs = readArgs(given, methods, requestHeaders)
      const headers = await headersFor(principal)
      const allowed: Allowed = { ...bounds, headers }
      const answer = await request(requestArgs, allowed, signal)
      return toolResult({ content: contentOf(answer, { files, hide: (text) => headers.hide(text) }) })
    },
  }
  return defineMiddleware({ name: as, tools: [tool] })
}

/** Fixed headers are checked here, those of a function with each call. */
function headersOf(as: string, given: HttpOptions['headers']): (principal: unknown) => Promise<HeadersByOrigin> {
  if (typeof given === 'function') return async (principal) => new HeadersByOrigin(as, await given(principal))
  const fixed = Promise.resolve(new HeadersByOrigin(as, given))
  return () => fixed
}

/** What the request itself sets, or what would let one request stand for two. */
const reserved =
  /^(host|content-length|transfer-encoding|connection|upgrade|te|trailer|expect|keep-alive|proxy-.*|accept-encoding)$/i

function schemaFor(methods: readonly string[], requestHeaders: readonly string[]) {
  const withBody = methods.some((method) => method !== 'GET' && method !== 'HEAD')
  const headers = Object.fromEntries(requestHeaders.map((header) => [header.toLowerCase(), { type: 'string' }]))
  return {
    type: 'object',
    properties: {
      url: { type: 'string', description: 'The whole URL, with http: or https:' },
      ...(methods.length > 1 && { method: { type: 'string', enum: [...methods] } }),
      ...(requestHeaders.length > 0 && {
        headers: { type: 'object', properties: headers, additionalProperties: false },
      }),
      ...(withBody && { body: { type: 'string', description: 'JSON, or plain text' } }),
    },
    required: methods.length > 1 ? ['url', 'method'] : ['url'],
    additionalProperties: false,
  }
}

/** The schema is not asked where an agent has no validator: what is not as it says is refused here. */
function readArgs(given: Record<string, unknown>, methods: readonly HttpMethod[], requestHeaders: readonly string[]) {
  const { url, method = methods[0], headers = {}, body } = given
  if (typeof url !== 'string' || typeof headers !== 'object' || headers === null)
    throw requestRefused('Give a url as a text.')
  if (!methods.includes(method as HttpMethod)) throw requestRefused(`The method is one of ${methods.join(', ')}.`)
  if (body !== undefined && (typeof body !== 'string' || method === 'GET' || method === 'HEAD'))
    throw requestRefused('A body is a text, and GET and HEAD have none.')
  const configuredHeaders = Object.entries(headers).map(
    ([header, value]) => [header.toLowerCase(), String(value)] as const,
  )
  const odd = configuredHeaders.find(([header]) => !requestHeaders.some((known) => known.toLowerCase() === header))
  if (odd !== undefined) throw requestRefused(`The header "${odd[0].slice(0, 100)}" may not be set.`)
  return { url, method: method as HttpMethod, headers: Object.fromEntries(configuredHeaders), body }
}
