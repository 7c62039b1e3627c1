import { scriptedModel } from '@allium/testing'
import { Agent, memoryStore } from 'allium'
import { expect, it, onTestFinished } from 'vitest'
import { server } from '../src/index.ts'
import { principal, silent } from './kit.ts'

it('lists no sessions of others, also to a login without a user (mastra-ai/mastra#18911)', async () => {
  const agent = new Agent({ name: 'support', model: scriptedModel(['Hi.']), store: { sessions: memoryStore() } })
  const someone = (request: Request) =>
    request.headers.get('authorization') === 'nobody' ? { tenantId: 'acme' } : principal(request)
  const app = server(agent, { principal: someone, logger: silent })
  onTestFinished(() => app.drain({ timeout: 1 }))
  const send = (authorization: string, path: string, init?: RequestInit) =>
    app.fetch(
      new Request(`http://x${path}`, { ...init, headers: { authorization, 'content-type': 'application/json' } }),
    )
  const started = await send('acme/ann', '/sessions/a/runs', { method: 'POST', body: '{"input":"My code is zebra."}' })
  expect(started.status).toBe(200)
  for (const path of ['/sessions', '/sessions/a/messages', '/sessions?owner=ann']) {
    const [own, other, none] = [
      await send('acme/ann', '/sessions'),
      await send('acme/bob', path),
      await send('nobody', path),
    ]
    expect(await own.text()).toContain('"a"')
    expect(await other.text()).not.toMatch(/zebra|"a"/)
    expect(none.status).toBe(401)
  }
})
