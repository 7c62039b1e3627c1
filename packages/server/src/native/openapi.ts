import type { ServerOptions } from '../options/options.ts'
import { pathParameters, type Route } from '../request/route.ts'
import type { ServedRoute } from '../request/router.ts'
import type { JsonSchema } from '../request/schema.ts'
import { ref, schemas } from './openapi-schemas.ts'

/** Returns the served routes as an OpenAPI 3.1 document: https://spec.openapis.org/oas/v3.1.1 */
export function openapi(
  { base = '/', operations, memory }: Pick<ServerOptions, 'base' | 'operations' | 'memory'>,
  all: readonly ServedRoute[],
): object {
  const served = all.filter(({ route }) => !route.isHidden)
  const paths: Record<string, Record<string, object>> = {}
  for (const { path, route } of served) (paths[templateOf(path)] ??= {})[route.method] = operation(route, path)
  const bodies = served.flatMap(({ route: { body, bodyName } }) =>
    body === undefined || bodyName === undefined ? [] : [[bodyName, body.json] as const],
  )
  return {
    openapi: '3.1.0',
    info: { title: 'Agents', version: '1', description: 'Runs, sessions and decisions of agents.' },
    servers: [{ url: base }],
    security: [{ signedIn: [] }],
    paths,
    components: {
      schemas: { ...schemas, ...operations?.schemas, ...memory?.schemas, ...Object.fromEntries(bodies) },
      securitySchemes: {
        signedIn: { type: 'http', scheme: 'bearer', description: 'Checked by the option `principal` of the server.' },
      },
    },
  }
}

function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

function operation(route: Route, path: string): object {
  const { method, summary, body, bodyName, answers, isPublic } = route
  return {
    summary,
    operationId: [method, ...path.split('/').filter((part) => /^\w/.test(part)), path.includes(':agent') && 'named']
      .filter(Boolean)
      .join('_'),
    parameters: [
      ...pathParameters(route, path).map(([name, schema]) => ({ name, in: 'path', required: true, schema })),
      ...toParameters('query', route.query.json),
      ...toParameters('header', route.headers.json),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: body.optional !== true,
        content: { 'application/json': { schema: bodyName === undefined ? body.json : ref(bodyName) } },
      },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, name]) => [status, answer(route, name)])),
      default: { description: 'The request was refused.', content: content('application/json', 'Problem') },
    },
    ...(isPublic && { security: [] }),
  }
}

/** OpenAPI ignores parameters for these headers. */
const ignored: readonly string[] = ['accept', 'authorization', 'content-type']

function toParameters(location: 'query' | 'header', json: JsonSchema): object[] {
  const { properties = {}, required = [] } = json as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  return Object.entries(properties)
    .filter(([name]) => location === 'query' || !ignored.includes(name))
    .map(([name, { description, ...schema }]) => ({
      name,
      in: location,
      ...(required.includes(name) && { required: true }),
      ...(description !== undefined && { description }),
      schema,
    }))
}

function answer({ summary, streams }: Route, name: string | null): object {
  if (name === null) return { description: 'No content.' }
  if (name === 'File') return { description: `${summary}.`, content: { '*/*': {} } }
  const events = content('text/event-stream', 'Events')
  const whole = content('application/json', name)
  return {
    description: `${summary}.`,
    content: streams === 'always' ? events : streams ? { ...whole, ...events } : whole,
  }
}

function content(type: string, schema: string): Record<string, object> {
  return { [type]: { schema: ref(schema) } }
}
