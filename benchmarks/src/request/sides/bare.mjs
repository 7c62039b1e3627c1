import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import Libsql from 'libsql'
import { listen } from './listen.mjs'
import { modelCall } from './model-call.mjs'

/** A handler that stores one row per request. It has no history and no tools. */
export async function bare({ url, file }) {
  const db = new Libsql(file)
  db.exec('pragma journal_mode = wal; create table turns (session text, question text, answer text)')
  const insert = db.prepare('insert into turns values (?, ?, ?)')
  const app = new Hono()
  app.post('/sessions/:id/runs', async (c) => {
    const { input } = await c.req.json()
    return streamSSE(c, async (sse) => {
      let answer = ''
      for await (const { content } of modelCall({ url, messages: [{ role: 'user', content: input }] })) {
        if (!content) continue
        answer += content
        await sse.writeSSE({ data: JSON.stringify({ type: 'text-delta', delta: content }) })
      }
      insert.run(c.req.param('id'), input, answer)
    })
  })
  return listen(app, () => db.close())
}
