import { Hono } from 'hono'
import { listen } from '../../src/request/sides/listen.mjs'

/**
 * The routes that all peers share: the caller, the check of the input, and one request of a session at a time.
 *
 * @param {{
 *   answer: (key: string, input: string, options: { signal: AbortSignal, done: () => void, context: import("hono").Context }) => Response | Promise<Response>,
 *   history: (key: string) => unknown,
 *   close: () => unknown,
 * }} peer `answer` calls `done` when the turn is stored. `history` returns messages of OpenAI's API
 */
export function serve({ answer, history, close }) {
  const active = new Set()
  const app = new Hono()
  const run = async (c, key, input) => {
    if (typeof input !== 'string') return c.json({ error: 'The input must be a text.' }, 400)
    if (active.has(key)) return c.json({ error: 'The session is busy.' }, 409)
    active.add(key)
    const done = () => active.delete(key)
    try {
      return await answer(key, input, { signal: c.req.raw.signal, done, context: c })
    } catch (error) {
      done()
      throw error
    }
  }
  app.post('/sessions/:id/runs', async (c) => {
    const { input } = await c.req.json()
    return run(c, keyOf(c, c.req.param('id')), input)
  })
  app.post('/chat', async (c) => {
    const { id, messages } = await c.req.json()
    return run(c, keyOf(c, id), messages.at(-1).parts[0].text)
  })
  app.get('/sessions/:id/messages', async (c) => c.json({ messages: await history(keyOf(c, c.req.param('id'))) }))
  return listen(app, close)
}

function keyOf(c, id) {
  const tenant = c.req.header('authorization')?.slice('Bearer '.length)
  if (!tenant) throw new Error('Not signed in.')
  return `${tenant}/${id}`
}
