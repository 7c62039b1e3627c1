import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryStore, type SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { countReads, type Reads } from '../../store-sqlite/test/count-reads.ts'
import { createApp } from '../src/app/server.ts'
import { createHost } from '../src/host/host.ts'
import { inspector } from '../src/inspect.ts'
import type { ServedRoute } from '../src/request/router.ts'
import { agentOf, kept } from './kit.ts'
import { fillImages, fillTurns } from './large-sessions/fill.ts'
import { routeRequests } from './large-sessions/routes.ts'
import { serverOf } from './large-sessions/server.ts'

/** Returns the costs of the requests of each route, for a session of so many turns. */
async function costsOf(id: string, turns: number): Promise<Map<string, Reads>> {
  const counter = countReads()
  const store = sqlite(':memory:')
  onTestFinished(() => {
    store.close()
    counter.end()
  })
  await (id === 'images' ? fillImages : fillTurns)(store.sessions, id, turns)
  const { fetch } = serverOf(store.sessions)
  const costs = new Map<string, Reads>()
  for (const { route, path, body, status = 200 } of routeRequests(id, turns)) {
    counter.take()
    const headers = { authorization: 'acme/ann', 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(new Request(`http://x${path}`, init))
    await response.arrayBuffer()
    expect([path, response.status]).toEqual([path, status])
    const { statements = 0, bytes = 0 } = costs.get(route) ?? {}
    const taken = counter.take()
    costs.set(route, { statements: Math.max(statements, taken.statements), bytes: Math.max(bytes, taken.bytes) })
  }
  return costs
}

/** The rows of the table in docs/reliability.md: route, statements, and kB for the session of many turns and for that of images. */
const documented = [...tableText().matchAll(/^\| `(.*?)` \| (\S*) \| (\S*) \| (\S*) \|/gm)].map(
  ([, route = '', statements, turns, images]) => ({ route, statements, turns, images }),
)

function tableText(): string {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reliability.md'), 'utf8')
  return page.split('### Cost of a read')[1]?.split('\n### ')[0] ?? ''
}

test('no route reads more of a session that is twice as long, except a fork', async () => {
  const [short, long] = [await costsOf('turns', 200), await costsOf('turns', 400)]
  const grown = [...long].filter(([route, { statements, bytes }]) => {
    const { statements: before, bytes: bytesBefore } = short.get(route) ?? { statements: 0, bytes: 0 }
    return statements > before || bytes > bytesBefore * 1.05 + 10
  })
  expect(grown.map(([route]) => route)).toEqual(['POST /sessions/:id/fork'])
})

test.each([
  ['turns', 200],
  ['images', 8],
] as const)('a route reads what docs/reliability.md says, of a session of %s', async (id, turns) => {
  const costs = await costsOf(id, turns)
  for (const { route, ...limits } of documented) {
    const { statements, bytes } = costs.get(route) ?? { statements: 0, bytes: 0 }
    if (!Number.isNaN(Number(limits.statements)))
      expect([route, statements]).toEqual([route, Number(limits.statements)])
    if (!Number.isNaN(Number(limits[id]))) expect([route, bytes <= Number(limits[id]) * 1000]).toEqual([route, true])
  }
})

test('a page that continues a long session reads only its last messages to find those of the page', async () => {
  const store = memoryStore()
  await fillTurns(store, 'chat', 400)
  let messages = 0
  const history: SessionStore['history'] = async (key, of) => {
    const turns = await store.history(key, of)
    for (const turn of turns) messages += turn.messages.length
    return turns
  }
  const { fetch } = serverOf({ ...store, history })
  const send = async (...ids: string[]) => {
    const parts = [{ type: 'text', text: 'And then?' }]
    const body = JSON.stringify({ id: 'chat', messages: ids.map((id) => ({ id, role: 'user', parts })) })
    const headers = { authorization: 'acme/ann', 'content-type': 'application/json' }
    messages = 0
    return (await fetch(new Request('http://x/chat', { method: 'POST', headers, body }))).text()
  }
  await send('u1')
  expect(await send('u1', 'u2')).toContain('Yes.')
  expect(messages).toBeLessThanOrEqual(20)
})

test('docs/reliability.md has the cost of every route', async () => {
  const served: ServedRoute[] = []
  const { agent, sessions } = kept(agentOf([]))
  const host = createHost(new Map([['agent', agent]]), {
    principal: () => ({}),
    sessions,
    uiStream: 6,
    openai: true,
    agui: true,
    mcp: true,
    inspect: inspector({ access: () => 'own' }),
  })
  await createApp(host, served)
  const routes = served.filter(
    ({ path }) => !path.startsWith('/agents/:agent') && !/^\/(healthz|readyz|health|metrics|openapi)/.test(path),
  )
  const names = routes.map(({ path, route }) => `${route.method.toUpperCase()} ${path}`)
  const rows = new Set(documented.map(({ route }) => route))
  expect([...new Set(names)].filter((name) => !rows.has(name))).toEqual([])
})
