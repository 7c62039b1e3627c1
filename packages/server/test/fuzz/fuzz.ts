import { Random } from './random.ts'
import { type Shot, shotAt } from './requests.ts'
import { Values } from './values.ts'
import { people, type World, worldOf } from './world.ts'

export interface Outcome {
  readonly requests: number
  /** How often a status came. */
  readonly statuses: ReadonlyMap<number, number>
  /** The routes that answered with a 2xx, and those that refused. */
  readonly answered: ReadonlySet<string>
  readonly refused: ReadonlySet<string>
  readonly faults: readonly string[]
}

/** Requests after which the world is a new one. */
const perWorld = 500

/**
 * Sends random requests that are made from the schemas of all routes.
 *
 * @param between is told after each world
 */
export async function fuzz(
  seed: number,
  requests: number,
  between: (sent: number) => void = () => {},
): Promise<Outcome> {
  const [statuses, answered, refused] = [new Map<number, number>(), new Set<string>(), new Set<string>()]
  const faults: string[] = []
  for (let sent = 0; sent < requests; sent += perWorld) {
    const random = new Random(seed + sent)
    const world = await worldOf()
    const { schemas } = world.document.components
    for (let at = 0; at < Math.min(perWorld, requests - sent); at++) {
      const [as, whose] = [random.pick(people), random.pick(people)]
      const values = new Values(random, schemas, world.words[random.chance(0.6) ? as : whose])
      const shot = shotAt(as, random.pick(world.served), values, random)
      const { status, fault } = await fire(world, shot, at % 20 === 0)
      const route = `${shot.served.route.method} ${shot.served.path}`
      statuses.set(status, 1 + (statuses.get(status) ?? 0))
      if (status < 300) answered.add(route)
      else refused.add(route)
      if (fault !== undefined) faults.push(`seed ${seed + sent}, request ${at}: ${fault}\n${told(shot)}`)
    }
    const left = await world.left()
    if (left.some((one) => one !== 0)) faults.push(`seed ${seed + sent}: left behind: ${JSON.stringify(left)}`)
    between(sent)
  }
  return { requests, statuses, answered, refused, faults }
}

async function fire(
  world: World,
  shot: Shot,
  compares: boolean,
): Promise<{ status: number; fault?: string | undefined }> {
  const before = compares ? await world.dump() : ''
  const writes = world.writes()
  const response = await world.fetch(new Request(shot.url, shot.init))
  const { status } = response
  const text = await textOf(response, shot)
  await world.settle()
  const fault = (): string | undefined => {
    if (status >= 500 && !isDocumented(status, text)) return `${status}: ${text.slice(0, 300)}`
    if (status >= 400 && world.writes() !== writes) return `${status} has changed what is kept: ${text.slice(0, 300)}`
    if (status >= 400 && status !== 406 && shot.init.method !== 'HEAD' && !hasShape(text))
      return `${status} has no shape of an error: ${text.slice(0, 300)}`
    if (status < 300 && mustFail(shot)) return `${status} for a body that is none of the route's`
    return leak(world, shot, text)
  }
  const found = fault()
  if (found !== undefined || !compares || status < 400) return { status, fault: found }
  return { status, fault: (await world.dump()) === before ? undefined : `${status} has changed what is stored` }
}

/** That of MCP stays open for what a server says. */
async function textOf(response: Response, { served }: Shot): Promise<string> {
  const isOpen = served.path === '/mcp' && response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isOpen || served.route.method !== 'get') return response.text()
  await response.body?.cancel()
  return ''
}

function isDocumented(status: number, text: string): boolean {
  return status === 503 && /"code":"(store\.(unavailable|full|readonly)|server\.draining)"/.test(text)
}

function hasShape(text: string): boolean {
  const body = parsed(text)
  if (body === undefined || text.length > 4000) return false
  const { code, message, error, jsonrpc } = body
  if (jsonrpc !== undefined) return typeof error === 'object'
  if (error !== undefined) return typeof (error as { message?: unknown }).message === 'string'
  return typeof code === 'string' && typeof message === 'string'
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Whether a field was added that a route of ours does not know, or one is missing that it needs. */
function mustFail({ served: { route }, init, change }: Shot): boolean {
  const {
    additionalProperties,
    properties = {},
    required = [],
  } = (route.body?.json ?? {}) as {
    additionalProperties?: unknown
    properties?: object
    required?: string[]
  }
  const body = typeof init.body === 'string' && change !== 'spoiled' ? parsed(init.body) : undefined
  if (body === undefined || init.method !== route.method.toUpperCase()) return false
  const isStrange = additionalProperties === false && Object.keys(body).some((name) => !Object.hasOwn(properties, name))
  return isStrange || required.some((name) => !Object.hasOwn(body, name))
}

/** Something of somebody else that no request has named. */
function leak({ canaries }: World, { as }: Shot, text: string): string | undefined {
  for (const [whose, all] of Object.entries(canaries))
    for (const canary of whose === as ? [] : all) if (text.includes(canary)) return `${as} was told ${canary}`
  return undefined
}

function told({ url, init: { method, headers, body } }: Shot): string {
  const text = typeof body === 'string' ? body : body === undefined ? '' : `bytes ${body.length}`
  return `${method} ${url.slice(0, 300)} ${JSON.stringify(headers)} ${text.slice(0, 600)}`
}
