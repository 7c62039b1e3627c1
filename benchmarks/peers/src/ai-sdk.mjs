import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { isStepCount, streamText, tool } from 'ai'
import Database from 'better-sqlite3'
import { serve } from './app.mjs'
import { weather } from './weather.mjs'

/** The AI SDK in Hono, with the messages of each session as rows of SQLite, as its documentation recommends. */
export function start({ url, file, synchronous }) {
  const store = openStore(file, synchronous)
  const model = createOpenAICompatible({ name: 'mock', baseURL: url, apiKey: 'none', includeUsage: true })('mock')
  const tools = {
    weather: tool({ description: weather.description, inputSchema: weather.schema, execute: weather.execute }),
  }
  return serve({
    answer(key, input, { signal, done }) {
      const question = { role: 'user', content: input }
      const messages = [...store.load(key), question]
      store.add(key, [question])
      const result = streamText({
        ...{ model, tools, messages, stopWhen: isStepCount(10), abortSignal: signal },
        onEnd({ responseMessages }) {
          store.add(key, responseMessages)
          done()
        },
        onAbort: done,
        onError: done,
      })
      return result.toUIMessageStreamResponse()
    },
    history: (key) => store.load(key).flatMap(linesOf),
    close: store.close,
  })
}

function linesOf({ role, content }) {
  if (typeof content === 'string') return [{ role, content }]
  return content.flatMap((part) => {
    if (part.type === 'text') return [{ role, content: part.text }]
    return part.type === 'tool-result' ? [{ role: 'tool', content: part.output.value }] : []
  })
}

function openStore(file, synchronous) {
  const db = new Database(file)
  db.pragma('journal_mode = wal')
  db.pragma(`synchronous = ${synchronous}`)
  db.exec(
    'create table messages (session text, n integer, body text, at integer, primary key (session, n)) without rowid',
  )
  const load = db.prepare('select body from messages where session = ? order by n')
  const next = db.prepare('select coalesce(max(n), 0) + 1 as n from messages where session = ?')
  const insert = db.prepare('insert into messages values (?, ?, ?, ?)')
  const add = db.transaction((key, messages) => {
    let { n } = next.get(key)
    for (const message of messages) insert.run(key, n++, JSON.stringify(message), Date.now())
  })
  return { load: (key) => load.all(key).map(({ body }) => JSON.parse(body)), add, close: () => db.close() }
}
