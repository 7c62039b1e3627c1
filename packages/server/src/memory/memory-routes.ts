import { isAlliumError } from '@allium/core'
import type { Person, WorkingMemory } from '@allium/memory/working'
import type { PassageStore } from '@allium/store'
import type { Rate } from '../feedback/rate.ts'
import type { Access, RunControl, Seals, Stores } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import type { DeleteSession } from '../native/sessions.ts'
import { type Caller, type Ctx, resolveCaller } from '../request/caller.ts'
import type { Serve } from '../request/router.ts'
import type { MemoryBlockView, MemoryView } from '../sessions/memory-view.ts'
import { passagePage } from './passage-page.ts'
import { routes } from './route-table.ts'

/** The conversations that one request deletes, at most. */
const maxDeleted = 100

/** The blocks of an agent, by the name of their layer. */
export type Blocks = ReadonlyMap<string, WorkingMemory>

/** What the routes need besides the records of the server. */
export interface MemoryParts {
  readonly rate: Rate
  readonly deleteSession: DeleteSession
  passagesOf(caller: Caller): PassageStore
  blocksOf(caller: Caller): Blocks
}

/** Adds the routes with which callers control what is remembered of them. None of them takes another owner. */
export function memoryRoutes(serve: Serve, host: Access & Stores & RunControl & Seals, parts: MemoryParts): void {
  serve(routes.view, async (c, read) => {
    const { caller, person } = await requested(host, c, read)
    const passages = parts.passagesOf(caller)
    const [state, { passages: count }] = await Promise.all([
      stateOf(passages, person),
      passages.count({ ...person, agent: caller.sessionAgent }),
    ])
    const blocks = await Promise.all([...parts.blocksOf(caller)].map(([name, one]) => blockView(name, one, person)))
    return c.json({ ...state, passages: count, blocks } satisfies MemoryView)
  })

  serve(routes.switch, async (c, read) => {
    const since = host.clock.now()
    const { caller, person, body } = await requested(host, c, read)
    await parts.rate.consume(caller)
    const passages = parts.passagesOf(caller)
    await passages.setOff(person, body.on ? undefined : host.clock.now(), { ...person, since })
    return c.json(await stateOf(passages, person))
  })

  serve(routes.passages, async (c, read) => {
    const { caller, query } = await requested(host, c, read)
    return c.json(await passagePage(host, caller, parts.passagesOf(caller), query))
  })

  serve(routes.removeAll, async (c, read) => {
    const { caller, person } = await requested(host, c, read)
    for (const block of parts.blocksOf(caller).values()) await block.delete(person)
    const page = { agents: [caller.sessionAgent], limit: maxDeleted }
    const { items, cursor } = await host.sessions.list({ ...person, ...page })
    for (const { key } of items) await parts.deleteSession(host, caller, key)
    return c.json({ deleted: items.length, more: cursor !== undefined })
  })

  blockRoutes(serve, host, parts)
}

/** Adds the routes of single blocks. */
function blockRoutes(serve: Serve, host: Access, parts: MemoryParts): void {
  serve(routes.edit, async (c, read) => {
    const { caller, person, params, body } = await requested(host, c, read)
    const block = blockOf(parts, caller, params.block)
    await parts.rate.consume(caller)
    try {
      return c.json({ name: params.block, ...(await block.edit(person, body)), fields: block.fields })
    } catch (error) {
      throw isAlliumError(error, 'options.invalid') ? requestError('request.invalid', error.message) : error
    }
  })

  serve(routes.changes, async (c, read) => {
    const { caller, person, params, query } = await requested(host, c, read)
    return c.json({ changes: await blockOf(parts, caller, params.block).changes(person, query.limit) })
  })

  serve(routes.removeBlock, async (c, read) => {
    const { caller, person, params } = await requested(host, c, read)
    await blockOf(parts, caller, params.block).delete(person)
    return c.body(null, 204)
  })
}

async function requested<R extends object>(host: Access, c: Ctx, read: () => Promise<R>) {
  const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
  const person: Person = { tenant: caller.tenant, owner: caller.owner }
  return { caller, person, ...(await read()) }
}

function blockOf(parts: MemoryParts, caller: Caller, name: string): WorkingMemory {
  const block = parts.blocksOf(caller).get(name)
  if (block !== undefined) return block
  throw requestError('route.not_found', `There is no block ${JSON.stringify(name)}. GET /memory lists the blocks.`)
}

async function stateOf(passages: PassageStore, person: Person): Promise<Pick<MemoryView, 'on' | 'off'>> {
  const off = await passages.off(person)
  return { on: off.person === undefined && off.tenant === undefined, off }
}

async function blockView(name: string, one: WorkingMemory, person: Person): Promise<MemoryBlockView> {
  return { name, ...(await one.read(person)), fields: one.fields }
}
