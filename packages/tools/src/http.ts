import {
  type AnyTool,
  defineMiddleware,
  layerOptions,
  misconfigured,
  option,
  type RegisteredPrincipal,
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

/** Returns the addresses of a host name. */
export type HttpLookup = (hostname: string) => Promise<readonly string[]>

export interface HttpOptions {
  /**
   * The allowed hosts: `api.example.com`, `*.example.com` (subdomains, not itself), `*` (any). Include a port that is not the
   * default of http or https: `api.example.com:8443`.
   */
  hosts: readonly string[]
  /** Hosts that may have private addresses, by exact name and port: `127.0.0.1:3000`. They need not be in `hosts`. @default none */
  allowPrivate?: readonly string[] | undefined
  /** @default ['GET'] */
  methods?: readonly HttpMethod[] | undefined
  /**
   * Headers that are added per origin (`https://api.example.com`; a host alone means https), such as API keys. They are sent only
   * to that origin, also after a redirect, and their values are removed from text for the model. A function returns them for each
   * call, from the principal of its session.
   */
  headers?: HttpHeaders | ((principal: RegisteredPrincipal) => HttpHeaders | Promise<HttpHeaders>) | undefined
  /** Headers that the model may set, by name. @default none */
  requestHeaders?: readonly string[] | undefined
  /** Media types besides text that the model receives as images and files: `image/png`, `image/*`. @default none */
  files?: readonly string[] | undefined
  /** The maximum size of an uncompressed response body in bytes; a larger one is rejected. @default 1_000_000 */
  maxBytes?: number | undefined
  /** @default 5 */
  maxRedirects?: number | undefined
  /** Timeout of one call in milliseconds, including redirects. @default the agent's toolTimeout */
  timeout?: number | undefined
  /** Resolves host names. The addresses it returns are checked like any others. @default the system's */
  lookup?: HttpLookup | undefined
  /** The tool's name. @default 'http_request' */
  name?: string | undefined
  /** The tool description for the model. @default says which requests are allowed */
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
 * Adds a tool that makes HTTP requests, only to the named hosts and only to public addresses.
 *
 * The resolved address is checked when the socket connects, for each redirect again. It needs Node. Responses are third-party
 * content: put `guard.injection` around it.
 *
 * @throws AlliumError `layer.config` for invalid options
 * @example
 * agent.use(tools.http({ hosts: ['api.example.com'], headers: { 'api.example.com': { authorization: `Bearer ${token}` } } }))
 */
export function http(given: HttpOptions): TypedMiddleware<{}> {
  const options = readOptions(given)
  const { name = 'http_request', as = `tools:http:${name}`, timeout, requireApproval } = options
  const { maxBytes = 1_000_000, maxRedirects = 5, methods = ['GET'], requestHeaders = [], files = [] } = options
  const framing = requestHeaders.find((header) => reserved.test(header))
  if (framing !== undefined)
    throw misconfigured(
      as,
      `cannot set the request header "${framing}", which is set automatically. Remove it from requestHeaders.`,
    )
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
    async execute(args: Record<string, unknown>, { signal, principal }: ToolExecution) {
      const requestArgs = readArgs(args, methods, requestHeaders)
      const headers = await headersFor(principal)
      const allowed: Allowed = { ...bounds, headers }
      const answer = await request(requestArgs, allowed, signal)
      return toolResult({ content: contentOf(answer, { files, hide: (text) => headers.hide(text) }) })
    },
  }
  return defineMiddleware({ name: as, tools: [tool] })
}

/** Fixed headers are checked here; those of a function at each call. */
function headersOf(as: string, given: HttpOptions['headers']): (principal: unknown) => Promise<HeadersByOrigin> {
  if (typeof given === 'function') return async (principal) => new HeadersByOrigin(as, await given(principal))
  const fixed = Promise.resolve(new HeadersByOrigin(as, given))
  return () => fixed
}

/** Headers that the request itself sets, or that could smuggle a second request. */
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

/** Validates the arguments itself, because the agent may have no schema validator. */
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
