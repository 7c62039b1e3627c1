import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { openStore } from './by-hand-store.mjs'
import { nativeStream, uiStream } from './by-hand-streams.mjs'
import { turn } from './by-hand-turn.mjs'
import { listen } from './listen.mjs'

/**
 * The server that a good engineer writes: it loads the session of the caller, stores the question, streams the answer, runs tools,
 * and stores the turn. A second request of a session is rejected while one is running. A reader that comes back gets nothing.
 */
export async function byHand({ url, file, synchronous, ui }) {
  const store = openStore(file, synchronous)
  const active = new Set()
  const app = new Hono()
  const answer = (c, { key, input, streamOf }) => {
    if (typeof input !== 'string') return c.json({ error: 'The input must be a text.' }, 400)
    if (active.has(key)) return c.json({ error: 'The session is busy.' }, 409)
    active.add(key)
    const history = store.load(key)
    store.add(key, [{ role: 'user', content: input }])
    return streamSSE(c, async (sse) => {
      const abort = new AbortController()
      sse.onAbort(() => abort.abort())
      try {
        const messages = [...history, { role: 'user', content: input }]
        const added = await turn({ url, messages, stream: streamOf(sse), signal: abort.signal })
        store.add(key, added)
      } finally {
        active.delete(key)
      }
    })
  }
  if (ui)
    app.post('/chat', async (c) => {
      const { id, messages } = await c.req.json()
      c.header('x-vercel-ai-ui-message-stream', 'v1')
      return answer(c, { key: keyOf(c, id), input: textOf(messages.at(-1)), streamOf: uiStream })
    })
  else
    app.post('/sessions/:id/runs', async (c) => {
      const { input } = await c.req.json()
      return answer(c, { key: keyOf(c, c.req.param('id')), input, streamOf: nativeStream })
    })
  app.get('/sessions/:id/messages', (c) => c.json({ messages: store.load(keyOf(c, c.req.param('id'))) }))
  return listen(app, store.close)
}

function keyOf(c, id) {
  const tenant = c.req.header('authorization')?.slice('Bearer '.length)
  if (!tenant) throw new Error('Not signed in.')
  return `${tenant}/${id}`
}

/** Undefined for a message that is not a user's text. */
function textOf({ role, parts }) {
  return role === 'user' ? parts.find(({ type }) => type === 'text')?.text : undefined
}
