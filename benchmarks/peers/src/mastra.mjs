import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { RegexFilterProcessor, TokenLimiterProcessor, UnicodeNormalizer } from '@mastra/core/processors'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { serve } from './app.mjs'
import { streamTexts } from './sse.mjs'
import { weather } from './weather.mjs'

/** A Mastra agent with memory in SQLite and processors that need no second model. */
export async function start({ url, file }) {
  const storage = new LibSQLStore({ id: 'store', url: `file:${file}` })
  const model = createOpenAICompatible({ name: 'mock', baseURL: url, apiKey: 'none', includeUsage: true })('mock')
  const filter = () => new RegexFilterProcessor({ presets: ['pii'], strategy: 'redact' })
  const memory = new Memory({ storage, options: { lastMessages: 1000, semanticRecall: false, generateTitle: false } })
  const agent = new Agent({
    ...{ id: 'agent', name: 'agent', instructions: '', model, memory },
    tools: {
      weather: createTool({
        ...{ id: weather.name, description: weather.description },
        inputSchema: weather.schema,
        execute: async (args) => weather.execute(args),
      }),
    },
    inputProcessors: [new UnicodeNormalizer(), filter(), new TokenLimiterProcessor({ limit: 1e6 })],
    outputProcessors: [filter()],
  })
  new Mastra({ agents: { agent }, storage, logger: false })
  await storage.init()
  return serve({
    async answer(key, input, { signal, done, context }) {
      const [resource] = key.split('/')
      const output = await agent.stream(input, {
        ...{ memory: { thread: key, resource }, maxSteps: 10, abortSignal: signal },
      })
      return streamTexts(context, textsOf(output), done)
    },
    async history(key) {
      const { messages } = await memory.recall({ threadId: key, resourceId: key.split('/')[0], perPage: false })
      return messages.flatMap(linesOf)
    },
    close: () => storage.close?.(),
  })
}

/** Its text stream ends without an error when the run fails. */
async function* textsOf(output) {
  yield* output.textStream
  if (output.error !== undefined) throw output.error
}

function linesOf({ role, content: { parts } }) {
  return parts.flatMap((part) => {
    if (part.type === 'text') return [{ role, content: part.text }]
    return part.type === 'tool-invocation' ? [{ role: 'tool', content: part.toolInvocation.result }] : []
  })
}
