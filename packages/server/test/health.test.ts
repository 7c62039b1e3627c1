import { once } from 'node:events'
import { createServer } from 'node:net'
import { Agent } from '@allium/core'
import { memoryEventLog, memoryStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { serve } from '../src/node.ts'
import { agentOf, allOf, ask, asStream, gated, listen, principal, silent } from './kit.ts'

test('a server that drains says so at once, lets what runs end, and takes nothing new', async () => {
  const { model, text, end } = gated()
  const { url, made } = await listen(new Agent({ model }))
  expect((await ask(`${url}/readyz`)).status).toBe(200)
  const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  text('one ')
  const stream = await asked
  const drained = made.drain()
  expect([(await ask(`${url}/readyz`)).status, (await ask(`${url}/healthz`)).status]).toEqual([503, 200])
  const refused = await ask(`${url}/sessions/b/runs`, { body: { input: 'Hi' } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  end()
  expect(JSON.parse((await allOf(stream)).at(-1)?.data as string)).toMatchObject({ status: 'completed' })
  await drained
})

test('what does not end in time is stopped, kept as interrupted, and its readers are told', async () => {
  const { model, text } = gated()
  const { url, made } = await listen(new Agent({ model, logger: silent }))
  const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  text('one ')
  const stream = await asked
  await made.drain({ timeout: 10 })
  expect(JSON.parse((await allOf(stream)).at(-1)?.data as string)).toMatchObject({ status: 'aborted' })
  const { messages } = (await (await ask(`${url}/sessions/a/messages`)).json()) as { messages: { parts: object[] }[] }
  expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ text: 'one ' })
})

test('metrics are for who has their token, and name no tenant', async () => {
  const { url } = await listen(agentOf(['Hello']), { metrics: { token: 'of the scraper' } })
  await ask(`${url}/sessions/secret-session/runs`, { body: { input: 'Hi' } })
  const read = (as: string) => ask(`${url}/metrics`, { as })
  expect([(await read('acme/ann')).status, (await read('Bearer of the scrapes')).status]).toEqual([401, 401])
  const text = await (await read('Bearer of the scraper')).text()
  expect(text).toContain('allium_http_requests_total{route="/sessions/:id/runs",status="200"} 1')
  expect(text).toContain('allium_runs_total{status="completed"} 1')
  expect(text).not.toMatch(/acme|ann|secret-session/)
  expect((await ask(`${(await listen(agentOf([]))).url}/metrics`)).status).toBe(404)
})

test('a request keeps an id that it brings, and gets one where it brings none, or no id', async () => {
  const { url } = await listen(agentOf([]))
  const idOf = async (given?: string) =>
    (await ask(`${url}/healthz`, { headers: given === undefined ? {} : { 'x-request-id': given } })).headers.get(
      'x-request-id',
    )
  expect(await idOf('abc-123')).toBe('abc-123')
  expect(await idOf()).toMatch(/^[0-9a-f-]{36}$/)
  expect(await idOf('two words')).toMatch(/^[0-9a-f-]{36}$/)
})

test('SIGTERM closes a server, once', async () => {
  const { url, server: http } = await serve(server(agentOf([]), { principal }), { port: 0 })
  const closed = new Promise<void>((resolve) => http.on('close', resolve))
  process.emit('SIGTERM')
  await closed
  await expect(fetch(url)).rejects.toThrow()
  expect(process.listenerCount('SIGTERM')).toBe(process.listenerCount('SIGINT'))
})

test('the paths stand under the base', async () => {
  const { url } = await listen(agentOf(['Hello']), { base: '/api/ai' })
  expect((await ask(`${url}/api/ai/sessions/a/runs`, { body: { input: 'Hi' } })).status).toBe(200)
  expect((await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })).status).toBe(404)
})

test('/readyz is 503 while the store fails or does not answer', async () => {
  const [store, clock] = [memoryStore(), manualClock()]
  let { list } = store
  const sessions = { ...store, list: (of: Parameters<typeof list>[0]) => list(of) }
  const made = server(agentOf([]), { principal, sessions, clock })
  const ready = async () => (await made.fetch(new Request('http://localhost/readyz'))).status
  expect(await ready()).toBe(200)
  await clock.advance(1000)
  list = () => Promise.reject(new Error('The store is down.'))
  expect(await ready()).toBe(503)
  await clock.advance(1000)
  const asked = new Promise<void>((resolve) => {
    list = () => new Promise(() => resolve())
  })
  const silent = ready()
  await asked
  await clock.advance(2000)
  expect(await silent).toBe(503)
  list = store.list
  expect(await ready()).toBe(200)
})

test('/readyz is 503 while the event log fails', async () => {
  const [log, clock] = [memoryEventLog(), manualClock()]
  let { latest } = log
  const made = server(agentOf([]), { principal, clock, events: { ...log, latest: (key) => latest(key) } })
  const ready = async () => (await made.fetch(new Request('http://localhost/readyz'))).status
  expect(await ready()).toBe(200)
  await clock.advance(1000)
  latest = () => Promise.reject(new Error('The log is down.'))
  expect(await ready()).toBe(503)
})

test('/readyz probes the store at most once a second', async () => {
  const [store, clock] = [memoryStore(), manualClock()]
  let asked = 0
  const list: typeof store.list = (of) => {
    asked++
    return store.list(of)
  }
  const sessions = { ...store, list }
  const made = server(agentOf([]), { principal, sessions, clock })
  const ready = () => made.fetch(new Request('http://localhost/readyz'))
  await Promise.all(Array.from({ length: 100 }, ready))
  expect(asked).toBe(1)
  await clock.advance(1000)
  await ready()
  expect(asked).toBe(2)
})

test('serve() rejects with a typed error when the port is in use', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const served = serve(server(agentOf([]), { principal }), { port, signals: false })
  await expect(served).rejects.toMatchObject({
    code: 'server.options',
    message: expect.stringContaining('another port'),
  })
  taken.close()
})
