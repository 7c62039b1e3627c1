import { Agent, type Middleware } from '@allium/core'
import { memoryEventLog, memoryStore } from '@allium/store'
import { describe, expect, test } from 'vitest'
import type { ServerOptions } from '../src/index.ts'
import { allOf, ask, asStream, gated, kept, kinds, type Listen, listen, silent, textIn } from './kit.ts'

/** A run that goes on in the session `a`, and what a second input to it gets. */
async function running(on: Listen, options: Partial<ServerOptions>) {
  const gate = gated()
  let hear = () => {}
  const said = new Promise<void>((resolve) => (hear = resolve))
  const hears: Middleware['turn'] = (ctx, next) => {
    ctx.onInput(() => hear())
    return next()
  }
  const agent = new Agent({ version: '1', model: gate.model, logger: silent }).use({ name: 'hears', turn: hears })
  const { url, made } = await on(agent as Agent, options)
  const post = (input: string, headers: Record<string, string> = asStream) =>
    ask(`${url}/sessions/a/runs`, { body: { input }, headers })
  const asked = post('Hi')
  gate.text('One. ')
  return { ...gate, url, made, post, said, first: await asked }
}
const historyOf = async (url: string) => {
  const { messages } = (await (await ask(`${url}/sessions/a/messages`)).json()) as {
    messages: { role: string; parts: { text?: string; data?: { text: string } }[] }[]
  }
  return messages.map(({ parts }) => parts.map(({ text, data }) => text ?? data?.text ?? '').join(''))
}
const typesOf = (events: { event?: string }[]) => events.map(({ event }) => event)

describe.each(kinds)('With onBusy: queue, an input to a session of runs %s that is busy', (_, on) => {
  const queue = { onBusy: 'queue', headersAfter: 1 } as const

  test('waits, its stream open, and is a turn of its own', async () => {
    const { post, first, end, url } = await running(on, queue)
    const second = await post('And then?')
    expect(second.status).toBe(200)
    end()
    expect([textIn(await allOf(first)), textIn(await allOf(second))]).toEqual(['One. ', 'Next.'])
    expect(await historyOf(url)).toEqual(['Hi', 'One. ', 'And then?', 'Next.'])
  })

  test('comes behind those that came before it', async () => {
    const { post, end, url } = await running(on, queue)
    const [second, third] = [await post('2'), post('3', {})]
    end()
    await allOf(second)
    expect((await third).status).toBe(200)
    expect(await historyOf(url)).toEqual(['Hi', 'One. ', '2', 'Next.', '3', 'Next.'])
  })
})

describe.each(kinds)('With onBusy: steer, an input to a session of runs %s that is busy', (_, on) => {
  const steer = { onBusy: 'steer', headersAfter: 1 } as const

  test('is said to the run that goes on, and its stream is that run from there on', async () => {
    const { post, first, end, url, said } = await running(on, steer)
    const second = await post('In French.')
    await said
    end()
    const [whole, told] = [await allOf(first), await allOf(second)]
    expect([textIn(whole), textIn(told)]).toEqual(['One. Next.', 'Next.'])
    expect([typesOf(told)[0], typesOf(told)[1], typesOf(told).at(-1)]).toEqual([
      'turn:start',
      'steer:delivered',
      'turn:end',
    ])
    expect(await historyOf(url)).toEqual(['Hi', 'One. In French.Next.'])
  })

  test('gets the answer of that run where it asks for no stream', async () => {
    const { post, end, said } = await running(on, steer)
    const second = post('In French.', {})
    await said
    end()
    expect(await (await second).json()).toMatchObject({ status: 'completed', text: 'Next.' })
  })

  test('is a turn of its own where the run is stopped before it heard', async () => {
    const { post, first, url, said } = await running(on, steer)
    const second = await post('Too late?')
    await said
    await ask(`${url}/sessions/a/stop`, { body: {} })
    await allOf(first)
    expect(textIn(await allOf(second))).toBe('Next.')
  })

  test('begins a turn where nothing runs', async () => {
    const { post, first, end } = await running(on, steer)
    end()
    await allOf(first)
    expect(textIn(await allOf(await post('Again')))).toBe('Next.')
  })
})

test('who leaves while waiting has asked for nothing', async () => {
  const { post, first, end, url, made } = await running(listen, { onBusy: 'queue', headersAfter: 1 })
  // Without a socket it is known at once that nobody reads.
  const headers = { authorization: 'acme/ann', 'content-type': 'application/json', ...asStream }
  const request = { method: 'POST', headers, body: JSON.stringify({ input: 'Never mind' }) }
  const second = await made.fetch(new Request('http://127.0.0.1/sessions/a/runs', request))
  await second.body?.cancel()
  const third = post('3', {})
  end()
  await allOf(first)
  await third
  expect(await historyOf(url)).toEqual(['Hi', 'One. ', '3', 'Next.'])
})

test('a seventeenth that waits is refused, and a server that stops refuses those that wait', async () => {
  const { post, made, first } = await running(listen, { onBusy: 'queue', headersAfter: 1 })
  const waiting = []
  for (let n = 0; n < 16; n++) waiting.push(await post(`${n}`))
  const one = await post('too many', {})
  expect([one.status, ((await one.json()) as { code: string }).code]).toEqual([409, 'session.busy'])
  await made.drain({ timeout: 0 })
  await allOf(first)
  for (const response of waiting)
    expect((await allOf(response)).at(-1)).toMatchObject({
      event: 'run:error',
      data: expect.stringContaining('server.draining'),
    })
})

test('a run of another process is waited for, and said to', async () => {
  const [sessions, events] = [memoryStore(), memoryEventLog()]
  const gate = gated()
  const a = await listen(kept(new Agent({ version: '1', model: gate.model }), sessions).agent, { sessions, events })
  const asked = ask(`${a.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  gate.text('One. ')
  const first = await asked
  let hear = () => {}
  const said = new Promise<void>((resolve) => (hear = resolve))
  const signal: typeof events.signal = (...of) => events.signal(...of).finally(() => hear())
  const options = { sessions, events: { ...events, signal }, onBusy: 'steer', headersAfter: 1 } as const
  const b = await listen(kept(new Agent({ version: '1', model: gate.model }), sessions).agent, options)
  const second = await ask(`${b.url}/sessions/a/runs`, { body: { input: 'In French.' }, headers: asStream })
  await said
  gate.end()
  expect([textIn(await allOf(first)), textIn(await allOf(second))]).toEqual(['One. Next.', 'Next.'])
})
