import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { Agent } from 'allium'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../src/client.ts'
import { type FeedbackOptions, feedback } from '../src/feedback.ts'
import { type ServerOptions, server } from '../src/index.ts'
import { principal, silent } from './kit.ts'

/** A server with feedback, whose agent has answered Ann twice in the session `chat`. */
async function serve({ onFeedback, ...options }: Partial<ServerOptions> & Pick<FeedbackOptions, 'onFeedback'> = {}) {
  const clock = manualClock()
  const store: SqliteStore = sqlite(':memory:', { clock })
  const agent = new Agent({
    name: 'support',
    model: scriptedModel(['One.', 'Two.', 'Three.', 'Four.']),
    store,
    clock,
    logger: silent,
  })
  const app = server(agent, { principal, logger: silent, clock, feedback: feedback({ onFeedback }), ...options })
  onTestFinished(() => app.drain({ timeout: 1 }))
  const ask = async (who: string, method: string, path: string, body?: unknown) => {
    const headers = { authorization: who, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const init = {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    const response = await app.fetch(new Request(`http://x${path}`, init))
    const text = await response.text()
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text), headers: response.headers }
  }
  const clientOf = (who: string) =>
    createClient<typeof agent>({
      url: 'http://x',
      headers: () => ({ authorization: who }),
      fetch: (url, init) => app.fetch(new Request(url, init)),
    })
  const chat = clientOf('acme/ann').session('chat')
  const [first, second] = [await chat.run('Hi'), await chat.run('And?')]
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  const stored = async () => (await store.feedback.list({ agent: 'support', limit: 10 })).items
  const path = (run: string, session = 'chat') => `/sessions/${session}/runs/${run}/feedback`
  return { app, ask, chat, clientOf, clock, first, second, key, store, stored, path }
}

describe('feedback', () => {
  it('on a run is stored with the person who gave it, and returned to them', async () => {
    const { ask, path, first, stored, clock, key } = await serve()
    const body = { score: 'down', comment: 'Wrong price', tags: ['price'] }
    const { status, json } = await ask('acme/ann', 'PUT', path(first.turnId), body)
    const view = { score: 0, comment: 'Wrong price', tags: ['price'], at: clock.now() }
    expect([status, json]).toEqual([200, { turnId: first.turnId, messageId: 'message-1', ...view }])
    expect(await stored()).toEqual([{ run: { key, turnId: first.turnId }, by: 'ann', ...view }])
    expect((await ask('acme/ann', 'GET', '/sessions/chat/feedback')).json).toEqual({ feedback: [json] })
  })

  it('is kept once for each person, who can change and remove it', async () => {
    const { chat, first, stored } = await serve()
    await chat.giveFeedback(first.turnId, { score: 'up', comment: 'Thanks' })
    await chat.giveFeedback(first.turnId, { score: 0.25 })
    expect(await stored()).toMatchObject([{ by: 'ann', score: 0.25 }])
    expect((await stored())[0]).not.toHaveProperty('comment')
    await chat.removeFeedback(first.turnId)
    await chat.removeFeedback(first.turnId)
    expect([await stored(), await chat.feedback()]).toEqual([[], []])
  })

  it('is found by the ids of the messages that a page shows after a reload', async () => {
    const { chat, first, second } = await serve()
    const { messages } = await chat.history()
    const answers = messages.filter(({ role }) => role === 'assistant')
    for (const { id } of answers) await chat.giveFeedback(id, { score: 'up' })
    const given = await chat.feedback()
    expect(given.map(({ turnId }) => turnId).toSorted()).toEqual([first.turnId, second.turnId].toSorted())
    for (const { id } of answers) expect(given.some((one) => one.turnId === id || one.messageId === id)).toBe(true)
  })

  it('on a message of the user, or on no run of the session, is rejected', async () => {
    const { ask, path, chat } = await serve()
    await chat.fork({ id: 'other' })
    const { turnId } = await chat.run('More')
    const ids = ['message-0', 'message-99', 'message-x', 'none', 'a%2Fb']
    for (const id of ids)
      expect((await ask('acme/ann', 'PUT', path(id), { score: 1 })).json.code).toBe('session.unknown_turn')
    const elsewhere = await ask('acme/ann', 'PUT', path(turnId, 'other'), { score: 1 })
    expect([elsewhere.status, elsewhere.json.code]).toEqual([404, 'session.unknown_turn'])
  })

  it('of a stranger and of another tenant gets the answer of a session that does not exist', async () => {
    const { ask, path, first, stored, chat } = await serve()
    await chat.giveFeedback(first.turnId, { score: 'up' })
    const missing = await ask('acme/ann', 'PUT', path(first.turnId, 'none'), { score: 1 })
    for (const who of ['acme/bob', 'globex/ann'])
      for (const query of ['', '?owner=ann']) {
        const answers = [
          await ask(who, 'PUT', path(first.turnId) + query, { score: 0 }),
          await ask(who, 'DELETE', path(first.turnId) + query),
        ]
        for (const { status, json } of answers.filter((_, i) => who !== 'globex/ann' || query === '' || i < 2))
          expect([status, json.code, json.message.replace('"chat"', '"none"')]).toEqual([
            404,
            missing.json.code,
            missing.json.message,
          ])
      }
    expect(await stored()).toMatchObject([{ by: 'ann', score: 1 }])
  })

  it('of a person who may read the session counts for that person', async () => {
    const { ask, path, first, chat, stored } = await serve({ canRead: ({ userId }) => userId === 'lead' })
    await chat.giveFeedback(first.turnId, { score: 'up' })
    await ask('acme/lead', 'PUT', `${path(first.turnId)}?owner=ann`, { score: 'down' })
    expect((await stored()).map(({ by, score }) => [by, score]).toSorted()).toEqual([
      ['ann', 1],
      ['lead', 0],
    ])
    const own = await ask('acme/lead', 'GET', '/sessions/chat/feedback?owner=ann')
    expect(own.json.feedback).toMatchObject([{ turnId: first.turnId, score: 0 }])
    expect(await chat.feedback()).toMatchObject([{ score: 1 }])
  })

  it.each([
    [{}],
    [{ score: 2 }],
    [{ score: -1 }],
    [{ score: 'sideways' }],
    [{ score: null }],
    [{ score: { $gt: 0 } }],
    [{ score: 1, comment: 'x'.repeat(4001) }],
    [{ score: 1, comment: 'é'.repeat(2001) }],
    ['{"score":1,"comment":"\\ud800"}'],
    [{ score: 1, comment: 7 }],
    [{ score: 1, tags: 'price' }],
    [{ score: 1, tags: ['a', 'a'] }],
    [{ score: 1, tags: ['x'.repeat(65)] }],
    [{ score: 1, tags: ['\u0000'] }],
    [{ score: 1, tags: Array.from({ length: 17 }, (_, i) => `${i}`) }],
    [{ score: 1, by: 'bob' }],
    ['{"score":1,"__proto__":{"by":"bob"}}'],
    ['[1]'],
    ['no JSON'],
  ])('with the body %j is rejected with 400', async (body) => {
    const { ask, path, first, stored } = await serve()
    const { status, json } = await ask('acme/ann', 'PUT', path(first.turnId), body)
    expect([status, json.code]).toEqual([400, 'request.invalid'])
    expect(await stored()).toEqual([])
  })

  it('with a body over the limit of the server is rejected with 413', async () => {
    const { ask, path, first } = await serve({ maxBodyBytes: 1000 })
    const { status } = await ask('acme/ann', 'PUT', path(first.turnId), { score: 1, comment: 'x'.repeat(2000) })
    expect(status).toBe(413)
  })

  it('is limited to 30 changes of a person in a minute', async () => {
    const { ask, path, first, clock, clientOf } = await serve()
    const give = (who = 'acme/ann') => ask(who, 'PUT', path(first.turnId), { score: 1 })
    for (let i = 0; i < 30; i++) expect((await give()).status).toBe(200)
    const limited = await give()
    expect([limited.status, limited.json.code, limited.headers.get('retry-after')]).toEqual([429, 'server.limit', '1'])
    await clientOf('globex/ann').session('chat').run('Hi')
    expect((await give('globex/ann')).json.code).toBe('session.unknown_turn')
    await clock.advance(60_000)
    expect((await give()).status).toBe(200)
  })

  it('that is given while its session is erased is not stored', async () => {
    const { ask, path, first, store, stored, clock } = await serve()
    const { find } = store.sessions
    store.sessions.find = async (...args) => {
      const turn = await find.apply(store.sessions, args)
      await store.sessions.erase({ tenant: 'acme', owner: 'ann' })
      return turn
    }
    const { status, json } = await ask('acme/ann', 'PUT', path(first.turnId), { score: 1 })
    expect([status, json.code, await stored()]).toEqual([409, 'store.fenced', []])
    void clock
  })

  it('goes with its session', async () => {
    const { chat, first, stored } = await serve()
    await chat.giveFeedback(first.turnId, { score: 'down', comment: 'Bad' })
    await chat.delete()
    expect(await stored()).toEqual([])
  })

  it('is announced with the one before, and a listener that throws changes nothing', async () => {
    const events: unknown[] = []
    const { chat, first, stored } = await serve({
      onFeedback: ({ type, by, feedback: { score } = {} as never, previous }) => {
        events.push([type, by, score, previous?.score])
        throw new Error('The listener failed.')
      },
    })
    await chat.giveFeedback(first.turnId, { score: 'up' })
    await chat.giveFeedback(first.turnId, { score: 'down' })
    await chat.removeFeedback(first.turnId)
    await chat.removeFeedback(first.turnId)
    expect(events).toEqual([
      ['feedback:stored', 'ann', 1, undefined],
      ['feedback:stored', 'ann', 0, 1],
      ['feedback:removed', 'ann', undefined, 0],
    ])
    expect(await stored()).toEqual([])
  })
})
