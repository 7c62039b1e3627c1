import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { ChatOpenAI } from '@langchain/openai'
import Database from 'better-sqlite3'
import {
  createAgent,
  modelCallLimitMiddleware,
  modelRetryMiddleware,
  piiMiddleware,
  summarizationMiddleware,
  tool,
} from 'langchain'
import { serve } from './app.mjs'
import { streamTexts } from './sse.mjs'
import { weather } from './weather.mjs'

/** A LangChain agent with middleware and checkpoints in SQLite. */
export function start({ url, file }) {
  const db = new Database(file)
  db.pragma('synchronous = full')
  const model = new ChatOpenAI({ model: 'mock', apiKey: 'none', configuration: { baseURL: url }, streamUsage: true })
  const agent = createAgent({
    model,
    tools: [tool((args) => weather.execute(args), { ...weather, schema: weather.schema })],
    checkpointer: new SqliteSaver(db),
    middleware: [
      piiMiddleware('email', { strategy: 'redact' }),
      piiMiddleware('credit_card', { strategy: 'redact' }),
      piiMiddleware('ip', { strategy: 'redact' }),
      summarizationMiddleware({ model, trigger: { tokens: 1e6 } }),
      modelRetryMiddleware(),
      modelCallLimitMiddleware({ runLimit: 10 }),
    ],
  })
  const configOf = (key) => ({ configurable: { thread_id: key } })
  return serve({
    async answer(key, input, { signal, done, context }) {
      const stream = await agent.stream(
        { messages: [{ role: 'user', content: input }] },
        { ...configOf(key), streamMode: 'messages', signal },
      )
      return streamTexts(context, textsOf(stream), done)
    },
    async history(key) {
      const { values } = await agent.graph.getState(configOf(key))
      return values.messages.map((message) => ({ role: roles[message.getType()], content: message.text }))
    },
    close: () => db.close(),
  })
}

const roles = { human: 'user', ai: 'assistant', tool: 'tool' }

async function* textsOf(stream) {
  for await (const [chunk] of stream) if (chunk.getType() === 'ai') yield chunk.text
}
