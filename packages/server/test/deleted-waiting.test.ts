import { Agent } from '@allium/core'
import { memoryEventLog, memoryStore } from '@allium/store'
import { describe, expect, test } from 'vitest'
import { allOf, ask, asStream, gated, kept, kinds, type Listen, listen, silent } from './kit.ts'

const remove = (url: string) => ask(`${url}/sessions/a`, { method: 'DELETE' })
const post = (url: string, input: string, headers: Record<string, string> = asStream) =>
  ask(`${url}/sessions/a/runs`, { body: { input }, headers })

/** A server with a run that goes on in the session `a`, and the requests that its model got. */
async function running(on: Listen, onBusy: 'queue' | 'steer') {
  const gate = gated()
  const asked: string[] = []
  const model: typeof gate.model = {
    id: 'noting',
    stream(request) {
      asked.push(JSON.stringify(request.messages.at(-1)))
      return gate.model.stream(request)
    },
  }
  const { url } = await on(new Agent({ version: '1', model, logger: silent }) as Agent, { onBusy, headersAfter: 1 })
  const first = post(url, 'Hi')
  gate.text('One. ')
  return { url, asked, first: await first }
}

/** How a stream ends whose session was deleted before its run began. */
const isGone = { event: 'run:error', data: expect.stringContaining('session.not_found') }

describe.each(kinds)('An input that waits for a session of runs %s', (_, on) => {
  test.each(['queue', 'steer'] as const)(
    'begins no run when the session is deleted, with onBusy: %s',
    async (onBusy) => {
      const { url, asked, first } = await running(on, onBusy)
      const waiting = [await post(url, 'Two'), await post(url, 'Three')]
      expect((await remove(url)).status).toBe(204)
      for (const response of waiting) expect((await allOf(response)).at(-1)).toMatchObject(isGone)
      await allOf(first)
      expect([asked.length, (await ask(`${url}/sessions/a/messages`)).status]).toEqual([1, 404])
      expect((await post(url, 'Four', {})).status).toBe(200)
      expect(asked.at(-1)).toContain('Four')
    },
  )
})

test('an input that was begun, and waits in a layer, ends when its session is deleted', async () => {
  const { agent, sessions } = kept(new Agent({ version: '1', model: gated().model, logger: silent }))
  let reach = () => {}
  const reached = new Promise<void>((resolve) => (reach = resolve))
  let isFirst = true
  agent.use({
    name: 'waits',
    async session(_, next) {
      if (isFirst) isFirst = false
      else await new Promise(reach)
      await next()
    },
  })
  const { url } = await listen(agent, { sessions, onBusy: 'queue', headersAfter: 1 })
  await post(url, 'Hi')
  await ask(`${url}/sessions/a/stop`, { method: 'POST' })
  const second = await post(url, 'Two')
  await reached
  expect((await remove(url)).status).toBe(204)
  expect((await allOf(second)).at(-1)).toMatchObject({ event: 'run:error' })
  expect((await sessions.list({ tenant: 'acme', limit: 9 })).items).toEqual([])
})

test('an input begins no run when another process deletes the session that it waits for', async () => {
  const [sessions, events] = [memoryStore(), memoryEventLog()]
  const gate = gated()
  const at = async () =>
    (
      await listen(kept(new Agent({ version: '1', model: gate.model, logger: silent }), sessions).agent, {
        ...options,
        sessions,
      })
    ).url
  const options = { events, onBusy: 'queue', headersAfter: 1 } as const
  const [one, other] = [await at(), await at()]
  const first = post(one, 'Hi')
  gate.text('One. ')
  await first
  const second = await post(other, 'Two')
  expect((await remove(one)).status).toBe(204)
  expect((await allOf(second)).at(-1)).toMatchObject(isGone)
  expect((await ask(`${one}/sessions/a/messages`)).status).toBe(404)
})
