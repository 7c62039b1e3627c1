import type { ServedRoute } from '../../src/request/router.ts'
import { hostileText, jsonOf, spoiled } from './hostile.ts'
import { type Change, mutate } from './mutate.ts'
import type { Random } from './random.ts'
import type { Values } from './values.ts'
import type { Person } from './world.ts'

/** A request of somebody, and what was done to it. */
export interface Shot {
  readonly as: Person
  readonly served: ServedRoute
  readonly change: Change | 'spoiled' | 'type' | 'method'
  readonly url: string
  readonly init: { method: string; headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> }
}

const changes: readonly Shot['change'][] = [
  'none',
  'none',
  'extra',
  'extra',
  'missing',
  'wrong',
  'wrong',
  'wrong',
  'repeated',
  'spoiled',
  'type',
  'method',
]
const types = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'application/json, text/html',
  'application/jsonp',
]
const accepts = [
  'text/event-stream',
  'application/json',
  'text/event-stream;q=0',
  '*/*',
  'text/event-stream, application/json',
  ',;q=x',
]

/** A request made from the schemas of a route. */
export function shotAt(as: Person, served: ServedRoute, values: Values, random: Random): Shot {
  const { route } = served
  const change = random.pick(changes)
  const url = `http://localhost${pathOf(served, values, random)}${queryOf(served, values, random)}`
  const headers = { authorization: as, ...headersOf(served, values, random) }
  const method =
    change === 'method'
      ? random.pick(['PUT', 'PATCH', 'OPTIONS', 'DELETE', 'POST', 'GET', 'HEAD'])
      : route.method.toUpperCase()
  if (route.body === undefined || method === 'GET' || method === 'HEAD')
    return { as, served, change, url, init: { method, headers } }
  const own = ['none', 'extra', 'missing', 'wrong', 'repeated'].includes(change) ? (change as Change) : 'none'
  const text = jsonOf(mutate(values.of(route.body.json), own, random, random.chance(0.4)))
  const body = change === 'spoiled' ? spoiled(text, random) : text
  const type = change === 'type' ? random.pick(types) : 'application/json'
  return { as, served, change, url, init: { method, headers: { ...headers, 'content-type': type }, body } }
}

function pathOf({ path, route }: ServedRoute, values: Values, random: Random): string {
  const { properties = {} } = route.params.json as { properties?: Record<string, Record<string, unknown>> }
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = path.startsWith('/v1/') ? 'previous_response_id' : name
    const given = values.of(properties[name] ?? { type: 'string' }, id)
    const value = random.chance(0.05) ? hostileText(random) : String(given)
    return encode(value.slice(0, 2000))
  })
}

function queryOf({ route }: ServedRoute, values: Values, random: Random): string {
  const { properties = {} } = route.query.json as { properties?: Record<string, Record<string, unknown>> }
  const entries = Object.entries(properties).flatMap(([name, schema]) =>
    random.chance(0.4) ? [[name, random.chance(0.3) ? hostileText(random) : String(values.of(schema, name))]] : [],
  )
  if (random.chance(0.05)) entries.push([random.pick(['extra', '__proto__', 'limit', 'owner']), '1'])
  return entries.length === 0
    ? ''
    : `?${entries.map(([name = '', value = '']) => `${encode(name)}=${encode(value.slice(0, 9000))}`).join('&')}`
}

function headersOf(served: ServedRoute, values: Values, random: Random): Record<string, string> {
  const { properties = {} } = served.route.headers.json as { properties?: Record<string, Record<string, unknown>> }
  const entries = Object.entries(properties).flatMap(([name, schema]) => {
    if (name === 'authorization' || random.chance(0.6)) return []
    const value =
      name === 'accept'
        ? served.path === '/mcp'
          ? 'application/json, text/event-stream'
          : random.pick(accepts)
        : random.chance(0.2)
          ? hostileText(random)
          : String(values.of(schema, name))
    return [[name, printable(value)]]
  })
  return Object.fromEntries(entries) as Record<string, string>
}

/** What a header can hold at all. */
function printable(value: string): string {
  return value
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, 3000)
    .trim()
}

/** Half a character cannot be part of a URL. */
function encode(value: string): string {
  return encodeURIComponent(value.replaceAll(/[\ud800-\udfff]/gu, '?'))
}
