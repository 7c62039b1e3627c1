import { Agent, type Model } from '@allium/core'
import { describe, expect, test } from 'vitest'
import { server } from '../../src/index.ts'
import { serve } from '../../src/node.ts'
import { type OnEnd, proxied, startProxy } from './proxies.ts'

const principal = ({ headers }: Request) => {
  const userId = headers.get('x-api-key') ?? headers.get('authorization')
  return userId === null ? undefined : { tenantId: 'acme', userId }
}

describe.concurrent.each(proxied)('behind %s with its recipe', (name) => {
  test('a chunk reaches the reader before the model sends the next one, and users read their own sessions', async ({
    onTestFinished,
  }) => {
    const { model, release } = twoWords()
    const url = await startProxy(name, await listen(model, onTestFinished), onTestFinished)
    const headers = { authorization: 'ann', 'content-type': 'application/json', accept: 'text/event-stream' }
    const run = await fetch(`${url}/sessions/a/runs`, { method: 'POST', headers, body: '{"input":"Hi"}' })
    let text = ''
    for await (const piece of run.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.includes('"delta":"One "')) release()
    }
    expect(text).toContain('"delta":"two."')
    const asAnn = await fetch(`${url}/sessions/a/messages`, { headers: { authorization: 'ann' } })
    const asBob = await fetch(`${url}/sessions/a/messages`, { headers: { authorization: 'bob' } })
    const rest = await fetch(`${url}/sessions/a/events`, { headers: { ...headers, 'last-event-id': lastId(text) } })
    expect([asAnn.status, asBob.status, rest.status]).toEqual([200, 404, 204])
  })
})

describe.concurrent.each(['Varnish without a recipe', 'nginx with a cache', 'Caddy'])(
  'with the cache of %s',
  (name) => {
    test('a user reads what is new, and nobody else reads it', async ({ onTestFinished }) => {
      const { model, release } = twoWords()
      release()
      const url = await startProxy(name, await listen(model, onTestFinished), onTestFinished)
      const get = (path: string, key?: string) => fetch(url + path, { headers: key ? { 'x-api-key': key } : {} })
      const run = (key: string) =>
        fetch(`${url}/sessions/a/runs`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: '{"input":"Hi"}',
        })
      expect((await get('/sessions/a/messages', 'ann')).status).toBe(404)
      for (const [turn, count] of [
        [1, 2],
        [2, 4],
      ]) {
        expect([turn, (await run('ann')).status]).toEqual([turn, 200])
        const { messages } = (await (await get('/sessions/a/messages', 'ann')).json()) as { messages: object[] }
        expect(messages).toHaveLength(count as number)
      }
      for (const path of ['/sessions/a/messages', '/sessions/a/usage', '/sessions']) {
        await get(path, 'ann')
        const [bob, nobody] = [await get(path, 'bob'), await get(path)]
        expect([path, nobody.status, await bob.text()]).toEqual([path, 401, expect.not.stringContaining('"id":"a"')])
      }
    })
  },
)

/** Starts a server on a free port, until the test ends. Returns the port. */
async function listen(model: Model, onEnd: OnEnd): Promise<number> {
  const app = server(new Agent({ model }), { principal, logger: { warn() {}, error() {} } })
  const served = await serve({ ...app, hosts: [] }, { port: 0, signals: false, drainTimeout: 0 })
  onEnd(async () => {
    served.server.closeAllConnections()
    await served.close()
  })
  return Number(new URL(served.url).port)
}

/** A model that waits between two words until it is released. */
function twoWords(): { model: Model; release(): void } {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  return {
    release,
    model: {
      id: 'two-words',
      async *stream() {
        yield { type: 'text-delta', delta: 'One ' }
        await released
        yield { type: 'text-delta', delta: 'two.' }
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 2 } }
      },
    },
  }
}

function lastId(stream: string): string {
  return [...stream.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
}
