import { defineMiddleware, defineTool, noUsage, type StoredTurn } from '@allium/core'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { type Ask, agentOf, ask, gated, kept, kinds, listen } from './kit.ts'

interface Sent {
  id: string
  text: string
  /** The ids of the user messages that the client has before it. */
  before?: string[]
  /** Answers the message again. */
  again?: boolean
}

type Send = (url: string, sent: Sent, options?: Ask) => Promise<Response>

let attempts = 0
const protocols: Record<string, Send> = {
  '/chat': (url, { id, text, before = [], again = false }, options) => {
    const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
    const trigger = again ? 'regenerate-message' : 'submit-message'
    const messages = [...before.map((id) => user(id, '')), user(id, text)]
    return ask(`${url}/chat`, { body: { id: 'a', trigger, messageId: id, messages }, ...options })
  },
  '/agui': (url, { id, text, before = [], again = false }, options) => {
    const user = (id: string, content: string) => ({ id, role: 'user', content })
    const messages = [...before.map((id) => user(id, '')), user(id, text)]
    const runId = again ? `run-${++attempts}` : 'run'
    return ask(`${url}/agui`, { body: { threadId: 'a', runId, messages }, ...options })
  },
  'the native routes': (url, { id, text, again = false }, options) => {
    const body = again ? { messageId: id } : { messageId: id, input: text }
    return ask(`${url}/sessions/a/runs`, { body, headers: { accept: 'text/event-stream' }, ...options })
  },
}

const paid: unknown[] = []
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  jsonSchema: { type: 'object', properties: { cents: { type: 'number' } } },
  requireApproval: true,
  execute: (args) => void paid.push(args),
})
const call = { toolCalls: [{ name: 'pay', args: { cents: 5 } }] }

async function pendingOf(url: string): Promise<{ callId: string; token: string }[]> {
  const { approvals } = (await (await ask(`${url}/approvals`)).json()) as {
    approvals: { callId: string; token: string }[]
  }
  return approvals
}

const all = { uiStream: 7, agui: true, openai: false } as const

async function textsOf(url: string, id = 'a', as?: string): Promise<string[]> {
  const response = await ask(`${url}/sessions/${id}/messages`, as === undefined ? {} : { as })
  const { messages } = (await response.json()) as { messages: { parts: { text?: string }[] }[] }
  return messages.map(({ parts }) => parts.map(({ text }) => text ?? '').join(''))
}

async function sessionsOf(url: string): Promise<string[]> {
  const { sessions } = (await (await ask(`${url}/sessions`)).json()) as { sessions: { id: string }[] }
  return sessions.map(({ id }) => id).filter((id) => id !== 'a')
}

const said = (requests: readonly { messages: readonly { content: unknown }[] }[]) =>
  requests
    .at(-1)
    ?.messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join(' | ')

describe.each(Object.entries(protocols))('on %s', (_, send) => {
  describe.each(kinds)('with runs %s', (_, start) => {
    async function conversation(answers: string[]) {
      const model = scriptedModel(answers)
      const { url } = await start(agentOf([], { model }), all)
      const post = async (sent: Sent, options?: Ask) => {
        const response = await send(url, sent, options)
        await response.text()
        return response.status
      }
      return { url, model, post }
    }

    test('an edited message takes the place of the old one, and of everything after it', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'secret' })
      await post({ id: 'u2', text: 'more', before: ['u1'] })
      expect(await post({ id: 'u1', text: 'edited' })).toBe(200)
      expect(said(model.requests)).not.toMatch(/secret|more/)
      expect(await textsOf(url)).toEqual(['edited', 'Three.'])
    })

    test('the former conversation stays as another session, and is deleted with the edited one', async () => {
      const { url, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'first' })
      await post({ id: 'u1', text: 'second' })
      await post({ id: 'u1', text: 'third' })
      const former = await sessionsOf(url)
      const texts = await Promise.all(former.map((id) => textsOf(url, id)))
      expect(texts.sort()).toEqual([
        ['first', 'One.'],
        ['second', 'Two.'],
      ])
      await ask(`${url}/sessions/a`, { method: 'DELETE' })
      expect(await sessionsOf(url)).toEqual([])
    })

    test('a message is answered again with the conversation before it', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'first' })
      await post({ id: 'u2', text: 'again', before: ['u1'] })
      expect(await post({ id: 'u2', text: 'again', before: ['u1'], again: true })).toBe(200)
      expect(await textsOf(url)).toEqual(['first', 'One.', 'again', 'Three.'])
      expect(said(model.requests)).not.toContain('Two.')
    })

    test('a message that is posted twice is stored once, and gets the same answer', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.'])
      await post({ id: 'u1', text: 'first' })
      const repeated = await (await send(url, { id: 'u1', text: 'first' })).text()
      expect(repeated).toContain('One.')
      expect([model.requests.length, await textsOf(url)]).toEqual([1, ['first', 'One.']])
    })

    test('a repeated request for a call that waits gets the same call', async () => {
      const { url } = await start(agentOf([call], { tools: [pay] }), all)
      await (await send(url, { id: 'u1', text: 'pay' })).text()
      const [first, again] = [await pendingOf(url), await (await send(url, { id: 'u1', text: 'pay' })).text()]
      expect(again).toContain('"cents":5')
      expect(await pendingOf(url)).toEqual(first)
    })

    test('an edit closes the calls that wait, and their tokens are void in both conversations', async () => {
      paid.length = 0
      const { url } = await start(agentOf([call, 'Two.'], { tools: [pay] }), all)
      await (await send(url, { id: 'u1', text: 'pay' })).text()
      const [pending] = await pendingOf(url)
      await (await send(url, { id: 'u1', text: 'do not pay' })).text()
      const decisions = { [pending?.callId as string]: { approve: true, token: pending?.token } }
      const statuses = ['a', ...(await sessionsOf(url))].map(async (id) => {
        const response = await ask(`${url}/sessions/${id}/decisions`, { body: { decisions } })
        return response.status
      })
      expect(await Promise.all(statuses)).toEqual([404, 404])
      expect([paid, await pendingOf(url), await textsOf(url)]).toEqual([[], [], ['do not pay', 'Two.']])
    })

    test('the message of another user with the same id and session id is not touched', async () => {
      const { url, post } = await conversation(['One.', 'Two.'])
      await post({ id: 'u1', text: 'of ann' })
      await post({ id: 'u1', text: 'of bob' }, { as: 'acme/bob' })
      expect(await textsOf(url)).toEqual(['of ann', 'One.'])
      expect(await textsOf(url, 'a', 'acme/bob')).toEqual(['of bob', 'Two.'])
    })

    test('an edit while a run is active is refused, and nothing changes', async () => {
      const { model, text, end } = gated()
      const { url } = await start(agentOf([], { model }), all)
      const running = send(url, { id: 'u1', text: 'first' })
      text('One')
      const reader = await running
      const refused = await send(url, { id: 'u1', text: 'edited' })
      expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('session.busy')])
      end()
      expect(await reader.text()).toContain('One')
      expect([await textsOf(url), await sessionsOf(url)]).toEqual([['first', 'One'], []])
    })

    test('a message that is posted twice during its run is answered by that run', async () => {
      const { model, text, end } = gated()
      const { url } = await start(agentOf([], { model }), all)
      const first = send(url, { id: 'u1', text: 'first' })
      text('One')
      await first
      const second = await send(url, { id: 'u1', text: 'first' })
      end()
      expect([await (await first).text(), await second.text()]).toEqual(Array(2).fill(expect.stringContaining('One')))
      expect(await textsOf(url)).toEqual(['first', 'One'])
    })

    test('of two edits at once one happens, or both in turn, and no text of an old one stays', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.', 'Three.', 'Four.'])
      await post({ id: 'u1', text: 'secret' })
      const edits = [post({ id: 'u1', text: 'left' }), post({ id: 'u1', text: 'right' })]
      const statuses = await Promise.all(edits)
      const texts = await textsOf(url)
      expect([statuses.includes(200), texts.length, texts[0]]).toEqual([true, 2, expect.stringMatching(/left|right/)])
      expect(said(model.requests)).not.toContain('secret')
    })

    test('an edit that waits in the queue replaces the message once the session is free', async () => {
      const { model, text, end } = gated()
      const { url } = await start(agentOf([], { model }), { ...all, onBusy: 'queue' })
      const first = send(url, { id: 'u1', text: 'first' })
      text('One')
      await first
      const edited = send(url, { id: 'u1', text: 'edited' })
      end()
      await (await first).text()
      await (await edited).text()
      expect([await textsOf(url), (await sessionsOf(url)).length]).toEqual([['edited', 'Next.'], 1])
    })

    test('with edits: reject an edit is a 400, and nothing changes', async () => {
      const { url } = await start(agentOf(['One.', 'Two.']), { ...all, edits: 'reject' })
      await (await send(url, { id: 'u1', text: 'first' })).text()
      const refused = [
        await send(url, { id: 'u1', text: 'edited' }),
        await send(url, { id: 'u1', text: 'first', again: true }),
      ]
      expect(refused.map(({ status }) => status)).toEqual([400, 400])
      expect(await textsOf(url)).toEqual(['first', 'One.'])
    })

    test('an edit that is sent twice happens once', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'first' })
      await post({ id: 'u1', text: 'edited' })
      await post({ id: 'u1', text: 'edited' })
      expect([model.requests.length, (await sessionsOf(url)).length]).toEqual([2, 1])
    })
  })
})

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'a' }

/** A server on a store with one turn that another process began. */
async function withTurn(answers: string[], turn: Partial<StoredTurn>) {
  const sessions = memoryStore()
  const { agent } = kept(agentOf(answers, { name: 'agent' }), sessions)
  const { lease } = await sessions.acquire(key, 1000)
  const all = { turnId: 't', rootId: 't', agent: 'agent', startedAt: 0, usage: noUsage(), answer: null, records: [] }
  const stored = { ...all, status: 'running', from: 0, messages: [], rest: { state: {} }, ...turn } as StoredTurn
  if (stored.status === 'running') await sessions.checkpoint(lease!, 0, stored)
  else await sessions.append(lease!, 0, stored)
  await sessions.release(lease!)
  return listen(agent, { sessions, uiStream: 7, agui: true })
}

const look = { name: 'look', description: 'Looks.', jsonSchema: { type: 'object' } }
const user = { id: 'u1', role: 'user', content: 'edited' }
const named: Record<string, [path: string, body: (clientTools: unknown) => object]> = {
  '/chat': [
    '/chat',
    (clientTools) => ({
      id: 'a',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'edited' }] }],
      clientTools,
    }),
  ],
  '/agui': [
    '/agui',
    () => ({
      threadId: 'a',
      runId: 'r2',
      messages: [user],
      tools: [{ name: 'look', description: 'Looks.', parameters: look.jsonSchema }],
    }),
  ],
  'the native routes': ['/sessions/a/runs', (clientTools) => ({ messageId: 'u1', input: 'edited', clientTools })],
}

describe.each(Object.entries(named))('on %s', (_, [path, body]) => {
  test.each(kinds)('an edit whose run would be refused changes nothing, with runs %s', async (_, start) => {
    const tools = [{ ...look, execute: () => 'seen' }]
    const { url } = await start(agentOf(['One.', 'Two.'], { tools }), all)
    await (await ask(`${url}/sessions/a/runs`, { body: { messageId: 'u1', input: 'first' } })).text()
    const response = await ask(`${url}${path}`, { body: body([look]) })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('tool.duplicate')])
    expect(await textsOf(url)).toEqual(['first', 'One.'])
    expect(await sessionsOf(url)).toEqual([])
  })
})

test('a message whose process was lost is stored once when it is sent again', async () => {
  const { url } = await withTurn(['One.'], { messages: [{ role: 'user', content: 'first', id: 'u1' }] })
  await (await protocols['/chat']!(url, { id: 'u1', text: 'first' })).text()
  expect(await textsOf(url)).toEqual(['first', 'One.'])
})

test('a message that was delivered to an earlier run is not sent again', async () => {
  const steered = [
    { role: 'user' as const, content: 'first' },
    { role: 'user' as const, content: 'more', steer: 'u2' },
  ]
  const { url } = await withTurn(['One.'], { status: 'completed', endedAt: 0, messages: steered })
  const response = await protocols['/chat']!(url, { id: 'u2', text: 'more' })
  expect([response.status, await response.text()]).toEqual([409, expect.stringContaining('store.conflict')])
})

test('an edit in a forked session keeps the state that the fork began with, and the original', async () => {
  const { url } = await listen(agentOf(['One.', 'Two.']), all)
  await (await protocols['/chat']!(url, { id: 'u1', text: 'first' })).text()
  await ask(`${url}/sessions/a/fork`, { body: { id: 'b' } })
  const body = { id: 'b', messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'edited' }] }] }
  await (await ask(`${url}/chat`, { body })).text()
  expect([await textsOf(url), await textsOf(url, 'b')]).toEqual([
    ['first', 'One.'],
    ['edited', 'Two.'],
  ])
})

test.each(['x'.repeat(257), 'a\u0000b', '', '\ud800'])('a message id such as %j is refused', async (id) => {
  const { url } = await listen(agentOf(['One.']), all)
  for (const send of Object.values(protocols)) expect((await send(url, { id, text: 'Hi' })).status).toBe(400)
})

test('state that a removed turn wrote is removed with it', async () => {
  const remember = defineMiddleware({
    name: 'notes',
    state: { 'notes:all': { default: [] as string[] } },
    turn: async (ctx, next) => {
      await next()
      ctx.state['notes:all'] = [...(ctx.state['notes:all'] as string[]), JSON.stringify(ctx.history[0]?.content)]
    },
  })
  const { url } = await listen(agentOf(['One.', 'Two.']).use(remember), { ...all, state: ['notes:all'] })
  await (await protocols['/chat']!(url, { id: 'u1', text: 'secret' })).text()
  await (await protocols['/chat']!(url, { id: 'u1', text: 'edited' })).text()
  const { state } = (await (await ask(`${url}/sessions/a/state`)).json()) as { state: Record<string, string[]> }
  expect(JSON.stringify(state)).toContain('edited')
  expect(JSON.stringify(state)).not.toContain('secret')
})

test('a former conversation can be continued and edited, and all of them are deleted together', async () => {
  const { url } = await listen(agentOf(['One.', 'Two.', 'Three.']), all)
  const send = (id: string, text: string) =>
    ask(`${url}/chat`, { body: { id, messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }] } })
  await (await send('a', 'first')).text()
  await (await send('a', 'second')).text()
  const [former] = await sessionsOf(url)
  await (await send(former!, 'third')).text()
  expect([await textsOf(url, former), (await sessionsOf(url)).length]).toEqual([['third', 'Three.'], 2])
  await ask(`${url}/sessions/a`, { method: 'DELETE' })
  expect(await sessionsOf(url)).toEqual([])
})

test('the former conversations of many edits are all deleted', async () => {
  const sessions = memoryStore()
  const { agent } = kept(agentOf([], { model: scriptedModel(Array(21).fill('Yes.')) }), sessions)
  const { url } = await listen(agent, { sessions, uiStream: 7, agui: true })
  for (let edit = 0; edit <= 20; edit++) await (await protocols['/chat']!(url, { id: 'u1', text: `${edit}` })).text()
  const { items } = await sessions.list({ tenant: 'acme', owner: 'ann', limit: 100 })
  expect(items).toHaveLength(21)
  await ask(`${url}/sessions/a`, { method: 'DELETE' })
  expect((await sessions.list({ tenant: 'acme', owner: 'ann', limit: 100 })).items).toEqual([])
})
