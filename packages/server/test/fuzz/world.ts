import { Agent, defineTool, type Model, type ModelChunk, type ModelRequest } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryEventLog, memoryStore, type SessionStore } from '@allium/store'
import { createApp } from '../../src/app/server.ts'
import { createHost } from '../../src/host/host.ts'
import type { ServedRoute } from '../../src/request/router.ts'
import { principal, silent } from '../kit.ts'
import type { Dictionary } from './values.ts'

const owners = ['acme/ann', 'acme/bob', 'globex/ann'] as const
/** Who sends requests; Eve has nothing of her own at the beginning. */
export const people = [...owners, 'acme/eve'] as const
export type Person = (typeof people)[number]

export interface World {
  fetch(request: Request): Promise<Response>
  readonly served: readonly ServedRoute[]
  readonly document: { components: { schemas: Record<string, Record<string, unknown>> } }
  readonly words: Readonly<Record<Person, Dictionary>>
  /** Texts, ids and tokens that only one person may read, and that no request names. */
  readonly canaries: Readonly<Record<string, readonly string[]>>
  /** How often something that is kept was changed. */
  readonly writes: () => number
  /** Waits for what a request has left running. */
  settle(): Promise<void>
  /** All that is kept. */
  dump(): Promise<string>
  /** Runs that go on, readers that are counted, and sessions that somebody still holds. */
  left(): Promise<unknown[]>
}

/** A server with every protocol on, and with sessions, waiting calls and responses of three people. */
export async function worldOf(): Promise<World> {
  const [sessions, events] = [memoryStore(), memoryEventLog()]
  const count = { writes: 0 }
  const [store, log] = [
    counted(sessions, ['append', 'checkpoint', 'delete', 'erase'], count),
    counted(events, ['append', 'signal', 'delete'], count),
  ]
  const agent = new Agent({ model: model(), tools: [wait], logger: silent, approvals: { secret: 'of the fuzz test' } })
  agent.use(persist({ store }))
  const options = { principal, sessions: store, events: log, logger: silent, secret: 'a secret of the fuzz test' }
  const protocols = { uiStream: 7, openai: true, agui: true, mcp: { elicitation: true } } as const
  const host = createHost(new Map([[agent.name, agent as never]]), {
    ...options,
    ...protocols,
    maxBodyBytes: 300_000,
    canRead,
  })
  const served: ServedRoute[] = []
  const app = await createApp(host, served)
  const fetch = async (request: Request) => app.fetch(request)
  const document = (await (await fetch(new Request('http://localhost/openapi.json'))).json()) as World['document']
  const { words, canaries } = await begin(fetch)
  return {
    fetch,
    served,
    document,
    words,
    canaries,
    writes: () => count.writes,
    async settle() {
      do await new Promise<void>((resolve) => setImmediate(resolve))
      while (host.runs.size > 0)
    },
    dump: () => dumpOf(sessions),
    left: async () => [host.runs.size, host.metrics.readers, ...(await held(sessions))],
  }
}

const canRead = (who: unknown) => (who as { userId: string }).userId === 'nobody'

const wait = defineTool({
  name: 'wait',
  description: 'Waits for an approval.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'done',
})

/** Answers at once: with the tool that an answer comes by, with one of the client, with one that waits, or with JSON. */
function model(): Model {
  return {
    id: 'fuzz',
    async *stream({ messages, tools }: ModelRequest): AsyncGenerator<ModelChunk> {
      const last = JSON.stringify(messages.at(-1) ?? '')
      const has = (name: string) => tools.some((tool) => tool.name === name)
      const name = has('answer')
        ? 'answer'
        : ['wait', 'locate'].find((one) => has(one) && last.includes(`"${one} please`))
      if (name === undefined) yield { type: 'text-delta', delta: '{"done":true}' }
      else {
        const callId = `call-${crypto.randomUUID()}`
        yield { type: 'tool-input-start', callId, name }
        yield { type: 'tool-input-delta', callId, delta: '{}' }
        yield { type: 'tool-input-end', callId }
      }
      const usage = { inputTokens: 1, outputTokens: 1 }
      yield { type: 'finish', reason: name === undefined ? 'stop' : 'tool-calls', usage }
    },
  }
}

function counted<T extends object>(port: T, methods: readonly string[], count: { writes: number }): T {
  const made = { ...port } as Record<string, unknown>
  for (const name of methods) {
    const method = (port as Record<string, (...args: unknown[]) => unknown>)[name]
    made[name] = (...args: unknown[]) => {
      count.writes++
      return method?.apply(port, args)
    }
  }
  return made as T
}

async function begin(fetch: World['fetch']): Promise<Pick<World, 'words' | 'canaries'>> {
  const words: Record<string, Dictionary> = {}
  const canaries: Record<string, string[]> = {}
  for (const as of owners) {
    const ask = async (path: string, body?: object) => {
      const headers = { authorization: as, ...(body && { 'content-type': 'application/json' }) }
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
      return (await (await fetch(new Request(`http://localhost${path}`, init))).json()) as Answer
    }
    const name = as.replace('/', '-')
    const canary = `canary-${name}`
    const ids = [`${name}-1`, `${name}-2`, 'shared']
    const runs: string[] = []
    for (const id of ids) runs.push((await ask(`/sessions/${id}/runs`, { input: `${canary} says hello` })).turnId)
    const waits = await ask(`/sessions/${name}-w/runs`, { input: [part(canary), part('wait please')] })
    const hidden = await ask(`/sessions/hidden-${canary}/runs`, { input: 'wait please' })
    canaries[as] = [canary, hidden.turnId, ...idsOf(hidden)]
    words[as] = {
      ids: [...ids, `${name}-w`, `${name}-w`, 'new-1'],
      calls: waits.pending.map(({ callId }) => callId),
      tokens: waits.pending.map(({ token }) => token),
      runs,
      responses: [(await ask('/v1/responses', { model: 'agent', input: canary })).id],
      cursors: [(await ask('/sessions?limit=1')).cursor, '[1.5]', '{}'],
      texts: ['Hi', 'wait please', 'locate please', 'text', '{}', 'é😀', 'tools/list', 'initialize'],
    }
  }
  return { words: { ...words, 'acme/eve': words['acme/ann'] } as World['words'], canaries }
}

/** Throws where nothing waits: such a world would find nothing. */
function idsOf({ pending }: Answer): string[] {
  if (pending.length === 0) throw new Error('The world has no calls that wait.')
  return pending.flatMap(({ callId, token }) => [callId, token])
}

interface Answer {
  readonly id: string
  readonly turnId: string
  readonly cursor: string
  readonly pending: readonly { callId: string; token: string }[]
}

function part(text: string) {
  return { type: 'text', text }
}

async function keysIn(sessions: SessionStore) {
  const pages = await Promise.all(['acme', 'globex'].map((tenant) => sessions.list({ tenant, limit: 10_000 })))
  return pages.flatMap(({ items }) => items.map(({ key }) => key))
}

async function dumpOf(sessions: SessionStore): Promise<string> {
  const all = await Promise.all((await keysIn(sessions)).map(async (key) => [key, await sessions.load(key)]))
  return JSON.stringify(all.sort())
}

async function held(sessions: SessionStore): Promise<string[]> {
  const left: string[] = []
  for (const key of await keysIn(sessions)) {
    const { lease } = await sessions.acquire(key, 1000)
    if (lease === undefined) left.push(key.sessionId)
    else await sessions.release(lease)
  }
  return left
}
