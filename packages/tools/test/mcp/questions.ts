import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CallToolRequestSchema,
  type ElicitRequestFormParams,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

const seats: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { seats: { type: 'integer', minimum: 1 } },
  required: ['seats'],
}

/** A server whose tools ask: `book` how many seats, `trip` twice. Each notes when it begins, and what it was told. */
export async function questionsFixture() {
  const notes: string[] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const opened = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    const server = new Server({ name: 'questions', version: '1.0.0' }, { capabilities: { tools: {} } })
    const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' as const } })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: ['book', 'trip', 'plain', 'think', 'brood'].map(tool),
    }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId, sendRequest }) => {
      const { name, arguments: args } = params
      const ask = async (message: string) => {
        const { ElicitResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
        const asked = { mode: 'form' as const, message, requestedSchema: seats }
        const options = { relatedRequestId: requestId, timeout: 60_000 }
        const reply = await sendRequest({ method: 'elicitation/create', params: asked }, ElicitResultSchema, options)
        notes.push(`${message} ${reply.action}`)
        return JSON.stringify(reply.content ?? reply.action)
      }
      notes.push(`${name} begins`)
      if (name === 'plain') return { content: [{ type: 'text', text: 'plain' }] }
      const think = async (text: string) => {
        const { CreateMessageResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
        const messages = [{ role: 'user', content: { type: 'text', text } }]
        const params = { messages, systemPrompt: 'Be short.', maxTokens: 100_000, temperature: 0.5 }
        const options = { relatedRequestId: requestId, timeout: 60_000 }
        const request = { method: 'sampling/createMessage', params } as const
        const reply = await sendRequest(request as never, CreateMessageResultSchema, options).catch((error) => error)
        notes.push(reply instanceof Error ? reply.message : `${reply.model} ${reply.stopReason}`)
        return reply instanceof Error ? reply.message : reply.content.text
      }
      if (name === 'think') return { content: [{ type: 'text', text: await think(`${args?.to}?`) }] }
      if (name === 'brood') {
        const thoughts = [await think('First?'), await think('Second?'), await think('Third?')]
        return { content: [{ type: 'text', text: thoughts.join() }] }
      }
      const answers = [await ask(`How many to ${args?.to}?`)]
      if (name === 'trip') answers.push(await ask('And back?'))
      return { content: [{ type: 'text', text: `${args?.to}: ${answers.join()}` }] }
    })
    await server.connect(transport)
    return transport
  }
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : await opened()
    if (known === undefined) return void response.writeHead(404).end('{}')
    await known.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    http.closeAllConnections()
    return new Promise((resolve) => http.close(resolve))
  }
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, notes, stop }
}
