import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { durable } from '@allium/durable'
import { operations } from '@allium/durable/operations'
import { sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../src/app/server.ts'
import { createHost } from '../src/host/host.ts'
import { type ServerOptions, server } from '../src/index.ts'
import { inspector } from '../src/inspect.ts'
import { operator } from '../src/operations.ts'
import type { ServedRoute } from '../src/request/router.ts'
import { agentOf, listen, principal, silent } from './kit.ts'

const methods = ['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'OPTIONS']
const bodies = ['{"input":"Hi"}', '{"model":"agent","input":"Hi"}', 'no JSON']

test('no cache may keep an answer of any route, whatever its method, caller and body', async () => {
  const { fetch, served } = await everything()
  const kept: string[] = []
  const statuses = new Set<number>()
  for (const path of [...new Set(served.map(({ path }) => path)), '/none'])
    for (const method of methods)
      for (const body of method === 'POST' ? bodies : [undefined])
        for (const as of ['acme/ann', '']) {
          const url = `http://localhost${path.replace(':agent', 'agent').replace(/:\w+/g, 'a')}`
          const headers = { authorization: as, origin: 'https://app.acme.com', 'content-type': 'application/json' }
          const response = await fetch(new Request(url, { method, headers, ...(body && { body }) }))
          statuses.add(response.status)
          if (!isPrivate(response)) kept.push(`${method} ${path} ${response.status}`)
          await response.body?.cancel()
        }
  expect(kept).toEqual([])
  expect([...statuses]).toEqual(expect.arrayContaining([200, 204, 400, 401, 404, 405]))
})

test('no cache may keep what is answered before the server: a host that is not served', async () => {
  const { port } = new URL((await listen(agentOf([]))).url)
  const asked = request({ port, host: '127.0.0.1', headers: { host: 'rebound.example' } }).end()
  const [{ statusCode, headers }] = (await once(asked, 'response')) as [IncomingMessage]
  asked.destroy()
  expect([statusCode, headers['cache-control']]).toEqual([421, 'no-store'])
})

function isPrivate({ headers }: Response): boolean {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  return headers.get('cache-control') === (isStream ? 'no-cache, no-transform' : 'no-store')
}

/** A server with every option that adds routes, and the table of its routes. */
async function everything() {
  const served: ServedRoute[] = []
  const [agent, listed] = [full(), full()]
  await createApp(createHost(new Map([['agent', listed.agent as never]]), listed.options), served)
  return { ...server(agent.agent, agent.options), served }
}

function full(): { agent: Agent; options: ServerOptions } {
  const store = sqlite(':memory:')
  const agent = new Agent({ version: '1', name: 'agent', model: scriptedModel(Array(100).fill('Hello.')), store })
  const runs = durable(agent, { store })
  onTestFinished(async () => {
    await runs.drain({ timeout: 0 })
    store.close()
  })
  const protocols = { uiStream: 7, openai: true, agui: true, mcp: { elicitation: true } } as const
  const inspect = inspector({
    access: () => 'tenant',
    readOnly: { sessions: store.sessions, audit: store.audit },
  })
  const operate = operator({
    operations: operations({ store, agents: [agent] }),
    canOperate: () => ({ tenants: 'all' }),
  })
  const more = { metrics: { token: 'of the scraper' }, origins: ['https://app.acme.com'], logger: silent }
  return { agent, options: { principal, durable: runs, ...protocols, inspect, operations: operate, ...more } }
}
