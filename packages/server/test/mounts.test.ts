import { expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { agentOf, allOf, principal, silent, textIn } from './kit.ts'

const authorization = 'acme/ann'
const json = { authorization, 'content-type': 'application/json' }
const made = (base?: string) =>
  server(agentOf(['One.', 'Two three.']), { principal, logger: silent, ...(base && { base }) })
const post = (url: string, headers: object = {}) =>
  new Request(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify({ input: 'Hi' }) })

test('a route of Next is the handler under its methods, called with the request and its params', async () => {
  const app = made('/api/ai')
  const route: Record<string, (request: Request, of: object) => Promise<Response>> = {
    GET: app.fetch,
    POST: app.fetch,
    DELETE: app.fetch,
  }
  const at = 'http://localhost/api/ai/sessions/a'
  const params = { params: Promise.resolve({ path: ['sessions', 'a'] }) }
  const asked = (method: 'GET' | 'POST' | 'DELETE', request: Request) =>
    route[method]?.(request, params) as Promise<Response>
  expect(await (await asked('POST', post(`${at}/runs`))).json()).toMatchObject({ text: 'One.' })
  const stream = await asked('POST', post(`${at}/runs`, { accept: 'text/event-stream' }))
  expect(textIn(await allOf(stream))).toBe('Two three.')
  const get = () => new Request(`${at}/messages`, { headers: { authorization } })
  expect((await asked('GET', get())).status).toBe(200)
  expect((await asked('DELETE', new Request(at, { method: 'DELETE', headers: { authorization } }))).status).toBe(204)
  expect((await asked('GET', get())).status).toBe(404)
})

test('a Worker is an object with the handler, called with the request, its variables and its context', async () => {
  const worker = { fetch: made().fetch as (request: Request, env: object, ctx: object) => Promise<Response> }
  const waits: unknown[] = []
  const ctx = { waitUntil: (promise: unknown) => waits.push(promise) }
  const run = await worker.fetch(post('https://ai.acme.com/sessions/a/runs'), { KEY: 'x' }, ctx)
  expect(await run.json()).toMatchObject({ text: 'One.' })
  const nobody = new Request('https://ai.acme.com/sessions')
  expect((await worker.fetch(nobody, {}, ctx)).status).toBe(401)
})
