import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import Libsql from 'libsql'
import { listen } from './listen.mjs'
import { modelCall } from './model-call.mjs'
import { weather } from './tool.mjs'

/**
 * The server that a good engineer writes: it loads the session of the caller, stores the question, streams the answer, runs tools,
 * and stores the turn. A second request of a session is rejected while one is running. A reader that comes back gets nothing.
 */
export async function byHand({ url, file }) {
  const store = openStore(file)
  const active = new Set()
  const app = new Hono()
  app.post('/sessions/:id/runs', async (c) => {
    const key = keyOf(c)
    const { input } = await c.req.json()
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
        const added = await turn({ url, messages, sse, signal: abort.signal })
        store.add(key, added)
      } finally {
        active.delete(key)
      }
    })
  })
  app.get('/sessions/:id/messages', (c) => c.json({ messages: store.load(keyOf(c)) }))
  return listen(app, store.close)
}

function keyOf(c) {
  const tenant = c.req.header('authorization')?.slice('Bearer '.length)
  if (!tenant) throw new Error('Not signed in.')
  return `${tenant}/${c.req.param('id')}`
}

async function turn({ url, messages, sse, signal }) {
  const added = []
  for (let step = 0; step < 10; step++) {
    const answer = { role: 'assistant', content: '' }
    for await (const { content, tool_calls } of modelCall({ url, messages: [...messages, ...added], tools, signal })) {
      if (content) {
        answer.content += content
        await sse.writeSSE({ event: 'text-delta', data: JSON.stringify({ type: 'text-delta', delta: content }) })
      }
      for (const { index, id, function: fn } of tool_calls ?? []) addCall(answer, index, id, fn)
    }
    added.push(answer)
    if (answer.tool_calls === undefined) break
    for (const { id, function: fn } of answer.tool_calls) {
      const content = weather.execute(weather.schema.parse(JSON.parse(fn.arguments)))
      added.push({ role: 'tool', tool_call_id: id, content })
      await sse.writeSSE({ event: 'tool-result', data: JSON.stringify({ type: 'tool-result', id, content }) })
    }
  }
  await sse.writeSSE({ event: 'end', data: JSON.stringify({ type: 'end' }) })
  return added
}

function addCall(answer, index, id, fn) {
  answer.tool_calls ??= []
  const call = (answer.tool_calls[index] ??= { id, type: 'function', function: { name: fn.name, arguments: '' } })
  call.function.arguments += fn.arguments ?? ''
}

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tools = [
  { type: 'function', function: { name: weather.name, description: weather.description, parameters: city } },
]

function openStore(file) {
  const db = new Libsql(file)
  db.exec('pragma journal_mode = wal; pragma synchronous = full')
  db.exec(
    'create table messages (session text, n integer, body text, at integer, primary key (session, n)) without rowid',
  )
  const load = db.prepare('select body from messages where session = ? order by n')
  const next = db.prepare('select coalesce(max(n), 0) + 1 as n from messages where session = ?')
  const insert = db.prepare('insert into messages values (?, ?, ?, ?)')
  const add = db.transaction((key, messages) => {
    let { n } = next.get([key])
    for (const message of messages) insert.run([key, n++, JSON.stringify(message), Date.now()])
  })
  return {
    load: (key) => load.all([key]).map(({ body }) => JSON.parse(body)),
    add,
    close: () => db.close(),
  }
}
