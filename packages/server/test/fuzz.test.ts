import { expect, test } from 'vitest'
import { createApp } from '../src/app/server.ts'
import { createHost } from '../src/host/host.ts'
import type { ServedRoute } from '../src/request/router.ts'
import { fuzz } from './fuzz/fuzz.ts'
import { agentOf, principal } from './kit.ts'

test('1,000 random requests made from the schemas of all routes find no fault', async () => {
  const { faults, statuses, answered } = await fuzz(20261124, 1000)
  expect(faults).toEqual([])
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([])
  expect(answered.size).toBeGreaterThan(20)
}, 60_000)

test('no route is served but those that have schemas, with every protocol on', async () => {
  const agent = agentOf([])
  const served: ServedRoute[] = []
  const options = { principal, uiStream: 7, openai: true, agui: true, mcp: { elicitation: true } } as const
  const { routes } = await createApp(createHost(new Map([[agent.name, agent]]), options), served)
  const there = routes.flatMap(({ method, path }) => (method === 'ALL' ? [] : [`${method} ${path}`]))
  expect(there.sort()).toEqual(served.map(({ path, route }) => `${route.method.toUpperCase()} ${path}`).sort())
  // What stands under ALL are the layers around all routes, and the answers to other methods.
  const all = new Set(routes.flatMap(({ method, path }) => (method === 'ALL' ? [path] : [])))
  expect([...all].sort()).toEqual(['/*', ...new Set(served.map(({ path }) => path))].sort())
})
