import { memoryStore, type SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { countReads, type Reads } from '../../store-sqlite/test/count-reads.ts'
import { createApp } from '../src/app/server.ts'
import { createHost } from '../src/host/host.ts'
import { inspector } from '../src/inspect.ts'
import type { ServedRoute } from '../src/request/router.ts'
import { agentOf, kept } from './kit.ts'
import { costsOf, documented, expectDocumented } from './large-sessions/costs.ts'
import { fillTurns } from './large-sessions/fill.ts'
import { serverOf } from './large-sessions/server.ts'

const samples = [
  ['turns', 200],
  ['images', 8],
] as const

/** Returns the costs of the routes on SQLite. */
async function onSqlite(id: string, turns: number): Promise<Map<string, Reads>> {
  const counter = countReads()
  const store = sqlite(':memory:')
  onTestFinished(() => {
    store.close()
    counter.end()
  })
  return costsOf(store.sessions, counter.take, { id, turns })
}

test('no route reads more of a session that is twice as long, except a fork', async () => {
  const [short, long] = [await onSqlite('turns', 200), await onSqlite('turns', 400)]
  const grown = [...long].filter(([route, { statements, bytes }]) => {
    const { statements: before, bytes: bytesBefore } = short.get(route) ?? { statements: 0, bytes: 0 }
    return statements > before || bytes > bytesBefore * 1.05 + 10
  })
  expect(grown.map(([route]) => route)).toEqual(['POST /sessions/:id/fork'])
})

test.each(samples)('a route reads what docs/reliability.md says, of a session of %s', async (id, turns) => {
  expectDocumented(await onSqlite(id, turns), id)
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
