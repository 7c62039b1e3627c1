import { Agent } from '@allium/core'
import { describe, expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { ask, asStream, eventsOf, gated, kinds, listen, principal, silent } from './kit.ts'

const metrics = { token: 'metrics' }

async function readers(url: string): Promise<number> {
  const text = await (await ask(`${url}/metrics`, { as: 'Bearer metrics' })).text()
  return Number(/^allium_stream_readers (\d+)$/m.exec(text)?.[1])
}

/** Waits for a condition that something else brings about. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(kinds)('with runs %s', (_, listen) => {
  test('HEAD answers as GET does on every route, and leaves no reader and no run behind', async () => {
    const { model, text, end } = gated()
    const { url } = await listen(new Agent({ version: '1', model, logger: silent }), { uiStream: 7, metrics })
    const asked = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    text('One.')
    const events = eventsOf(asked)
    for await (const { data } of events) if (data.includes('One.')) break
    const paths = [
      'sessions/a/events',
      'chat/a/stream',
      'sessions/a/messages',
      'sessions',
      'approvals',
      'agents',
      'healthz',
    ]
    for (let i = 0; i < 3; i++)
      for (const path of paths)
        expect([path, (await ask(`${url}/${path}`, { method: 'HEAD' })).status]).toEqual([path, 200])
    await until(async () => (await readers(url)) === 0)
    end()
    await until(async () => (await (await ask(`${url}/sessions/a/messages`)).text()).includes('"running":false'))
    expect((await ask(`${url}/sessions/a/runs`, { body: { input: 'Next' } })).status).toBe(200)
    expect((await ask(`${url}/sessions/a/events`, { method: 'HEAD' })).headers.get('content-type')).toContain(
      'text/event-stream',
    )
    expect((await ask(`${url}/sessions/b/events`, { method: 'HEAD' })).status).toBe(204)
  })
})

test('HEAD does not count as the last reader of a run that ends with that', async () => {
  const { model, text, end } = gated()
  const { url } = await listen(new Agent({ version: '1', model, logger: silent }), { onDisconnect: 'abort' })
  const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
  text('One.')
  await until(async () => (await ask(`${url}/sessions/a/events`, { method: 'HEAD' })).status === 200)
  end()
  expect(await (await asked).json()).toMatchObject({ status: 'completed', text: 'One.' })
})

test('a client that disconnects before the first byte leaves no reader behind', async () => {
  const { model } = gated()
  const { url } = await listen(new Agent({ version: '1', model, logger: silent }), { metrics, headersAfter: 3_600_000 })
  const left = new AbortController()
  const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream, signal: left.signal })
  await until(async () => (await ask(`${url}/sessions/a/events`, { method: 'HEAD' })).status === 200)
  left.abort()
  await expect(asked).rejects.toThrow()
  await until(async () => (await ask(`${url}/sessions/a/runs`, { body: { input: 'Next' } })).status === 200)
  expect(await readers(url)).toBe(0)
})

test('a stream whose body is cancelled unread leaves no reader behind, and neither does one whose request has aborted', async () => {
  const { model, text } = gated()
  const app = server(new Agent({ version: '1', model, logger: silent }), { principal, logger: silent, metrics })
  const call = (path: string, init: RequestInit = {}) =>
    app.fetch(
      new Request(`http://localhost${path}`, { ...init, headers: { authorization: 'acme/ann', ...init.headers } }),
    )
  const json = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const body = JSON.stringify({ input: 'Hi' })
  text('One.')
  const asked = await call('/sessions/a/runs', { method: 'POST', headers: json, body })
  const left = new AbortController()
  const dropped = await call('/sessions/a/events', { signal: left.signal })
  left.abort()
  await dropped.text()
  await asked.body?.cancel()
  const next = await call('/sessions/a/runs', { method: 'POST', headers: { ...json, accept: '*/*' }, body })
  expect([
    next.status,
    await (await call('/metrics', { headers: { authorization: 'Bearer metrics' } })).text(),
  ]).toEqual([200, expect.stringContaining('allium_stream_readers 0')])
})
