import { Agent, isAlliumError } from 'allium'
import * as tools from 'allium/tools'

// What only Node has: a tool that asks a server; and an MCP server whose SDK is not installed.
const [url] = process.argv.slice(-1)
const model = {
  id: 'test/model',
  async *stream({ messages }) {
    if (messages.at(-1).role === 'tool') yield { type: 'text-delta', delta: 'Done.' }
    else {
      yield { type: 'tool-input-start', callId: 'c1', name: 'http_request' }
      yield { type: 'tool-input-delta', callId: 'c1', delta: JSON.stringify({ url }) }
      yield { type: 'tool-input-end', callId: 'c1' }
    }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }
  },
}
const agent = new Agent({ model }).use(tools.http({ hosts: [], allowPrivate: [new URL(url).host] }))
const { toolCalls } = await agent.run('Ask.')
const mcp = new Agent({ model }).use(tools.mcp({ name: 'files', command: 'node' }))
const failed = await mcp.run('Ask.').catch((error) => (isAlliumError(error) ? error.code : String(error)))
console.log(JSON.stringify([toolCalls[0].result.content, failed]))
