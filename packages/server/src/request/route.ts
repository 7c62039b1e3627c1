import { readJson } from './body.ts'
import type { Ctx } from './caller.ts'
import { type Fields, type ObjectOf, object, openObject } from './containers.ts'
import { agentName, sessionId } from './fields.ts'
import type { JsonSchema, Schema } from './schema.ts'
import { type Source, violation } from './value-location.ts'

/** A route, with a schema for each part of a request. Parsing, types and the OpenAPI document all use it. */
export interface Route<P = unknown, Q = unknown, H = unknown, B = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** In Hono's format: `/sessions/:id`. */
  readonly path: string
  readonly summary: string
  readonly params: Schema<P>
  readonly query: Schema<Q>
  readonly headers: Schema<H>
  readonly body: Schema<B> | undefined
  /** The name of the body's schema in the OpenAPI document. */
  readonly bodyName: string | undefined
  /** Body limit in bytes, if the protocol needs more than the option `maxBodyBytes`. */
  readonly minBody: number
  /** The schema of each answer by status: a name in the OpenAPI document, or null for no body. */
  readonly answers: Readonly<Record<number, string | null>>
  /** Whether it answers with a stream if the client requests one, or always. */
  readonly streams: 'onRequest' | 'always' | undefined
  /** The route needs no principal. */
  readonly isPublic: boolean
  /** The OpenAPI document leaves it out. */
  readonly isHidden: boolean
}

export interface RouteSpec<P extends Fields, Q extends Fields, H extends Fields, B>
  extends Pick<Route, 'method' | 'path' | 'summary'>,
    Partial<Pick<Route, 'bodyName' | 'minBody' | 'answers' | 'streams' | 'isPublic' | 'isHidden'>> {
  /** @default a session id for `:id` */
  readonly params?: P
  readonly query?: Q
  readonly headers?: H
  readonly body?: Schema<B>
  /** For routes of other protocols: unknown query parameters are ignored. */
  readonly ignoresUnknown?: boolean
}

type NoFields = {}

export function route<
  P extends Fields = NoFields,
  Q extends Fields = NoFields,
  H extends Fields = NoFields,
  B = undefined,
>(spec: RouteSpec<P, Q, H, B>): Route<ObjectOf<P> & SessionParams, ObjectOf<Q>, ObjectOf<H>, B> {
  const {
    params,
    query = {},
    headers = {},
    body,
    ignoresUnknown = false,
    isPublic = false,
    isHidden = false,
    minBody = 0,
  } = spec
  const { bodyName, answers = {}, streams, method, path, summary } = spec
  const base = { method, path, summary, body, bodyName, minBody, answers, streams, isPublic, isHidden }
  const objectSchema = ignoresUnknown ? openObject : object
  return {
    ...base,
    params: openObject({ ...(path.includes(':id') && { id: sessionId }), ...params }) as Schema<
      ObjectOf<P> & SessionParams
    >,
    query: objectSchema(query) as Schema<ObjectOf<Q>>,
    headers: openObject(headers) as Schema<ObjectOf<H>>,
  }
}

export interface SessionParams {
  /** Only of paths with `:id`. */
  readonly id: string
}

/** The parts of a request, as parsed by the route's schemas. */
export type RequestOf<R> =
  R extends Route<infer P, infer Q, infer H, infer B>
    ? { readonly params: P; readonly query: Q; readonly headers: H; readonly body: B }
    : never

/** Parses a request by its route. Throws AlliumError `request.*`, `session.invalid_id` or `approval.invalid` for an invalid part. */
export async function readRequest<R extends Route>(
  c: Ctx,
  { params, query, headers, body, minBody }: R,
  maxBodyBytes: number,
): Promise<RequestOf<R>> {
  const parts = {
    params: parsed(params, c.req.param() as Record<string, string>, 'path'),
    query: parsed(query, queryOf(c.req.url), 'query'),
    headers: parsed(headers, c.req.header(), 'header'),
  }
  const parsedBody = body === undefined ? undefined : await readBody(c.req.raw, body, Math.max(minBody, maxBodyBytes))
  return { ...parts, body: parsedBody } as RequestOf<R>
}

async function readBody(request: Request, body: Schema<unknown>, maxBodyBytes: number): Promise<unknown> {
  const value = await readJson(request, maxBodyBytes)
  if (value !== undefined || body.optional) return parsed(body, value, 'body')
  throw violation({ source: 'body' }, body.expected, value)
}

function parsed<T>(schema: Schema<T>, value: unknown, source: Source): T {
  return schema.parse(value, { source })
}

/** A repeated parameter becomes a list, which no schema accepts. */
function queryOf(url: string): Record<string, unknown> {
  const { searchParams } = new URL(url)
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const all = searchParams.getAll(name)
      return [name, all.length === 1 ? all[0] : all]
    }),
  )
}

/** Returns the parameters in a path, with their schemas. */
export function pathParameters({ params }: Route, path: string): [string, JsonSchema][] {
  const { properties = {} } = params.json as { properties?: Record<string, JsonSchema> }
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, properties[name] ?? agentName.json])
}
