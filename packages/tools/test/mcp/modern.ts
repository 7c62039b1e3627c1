import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { serveFetch } from './serve-fetch.ts'

const seats = z.object({ seats: z.number().int().min(1) })

/** A server of 2.4, which notes what it is asked: `add`, and `book`, which asks two questions, one after the other. */
export async function modernServer({
  legacy = 'stateless',
  ttlMs = 0,
}: {
  legacy?: 'stateless' | 'reject'
  ttlMs?: number
} = {}) {
  const notes: string[] = []
  const shelf = { hasMore: false }
  const requests: { headers: Headers; body: string }[] = []
  const { fetch, notify } = createMcpHandler(
    ({ era }) => {
      const cacheHints = { 'tools/list': { ttlMs, cacheScope: 'private' as const } }
      const server = new McpServer(
        { name: 'modern', version: '1.0.0' },
        { capabilities: { tools: { listChanged: true } }, cacheHints },
      )
      server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => text(a + b))
      server.registerTool('era', { inputSchema: z.object({}) }, () => text(era))
      if (shelf.hasMore) server.registerTool('extra', { inputSchema: z.object({}) }, () => text('extra'))
      server.registerTool('book', { inputSchema: z.object({ to: z.string() }) }, ({ to }, { mcpReq }) => {
        const { inputResponses } = mcpReq
        const state = mcpReq.requestState() as string | undefined
        const given = acceptedContent(inputResponses, state ?? '', seats)
        notes.push(`book ${to} ${state} ${JSON.stringify(given)}`)
        if (state === undefined) return ask('there', 'How many?')
        if (state === 'there') return ask('back', `${given?.seats} there. And back?`)
        return text(`${to}: ${given?.seats} back`)
      })
      return server
    },
    { legacy },
  )
  const { url, stop } = await serveFetch(async (request) => {
    requests.push({ headers: request.headers, body: await request.clone().text() })
    return fetch(request)
  })
  onTestFinished(stop)
  const listed = () => requests.filter(({ body }) => body.includes('"tools/list"')).length
  return { url, notes, shelf, requests, notify, listed }
}

function ask(key: string, message: string) {
  const question = inputRequired.elicit({ message, requestedSchema: seats })
  return inputRequired({ inputRequests: { [key]: question }, requestState: key })
}

function text(value: unknown) {
  return { content: [{ type: 'text' as const, text: String(value) }] }
}
