import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A local address without a server. */
export const nobody = '127.0.0.1:9'

/** OpenAI's API in small: it streams `pieces` to every question. */
export async function openAiServer(...pieces: string[]) {
  const item = { type: 'message', id: 'msg_1' }
  return serve({
    'POST /v1/responses': (res) =>
      stream(res, [
        { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini' } },
        { type: 'response.output_item.added', output_index: 0, item },
        ...pieces.map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta })),
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id: 'resp_1', usage: { input_tokens: 20, output_tokens: 7 } } },
      ]),
  })
}

/** Ollama in small: the models that it has, and OpenAI's chat format. */
export async function ollamaServer({ models, pieces = [] }: { models: string[]; pieces?: string[] }) {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chat_1',
    created: 1,
    model: models[0],
    choices: [{ index: 0, delta, finish_reason }],
  })
  return serve({
    'GET /api/tags': (res) => res.end(JSON.stringify({ models: models.map((name) => ({ name })) })),
    'POST /v1/chat/completions': (res) =>
      stream(res, [
        ...pieces.map((content) => chunk({ role: 'assistant', content })),
        chunk({}, 'stop'),
        { id: 'chat_1', choices: [], usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 } },
      ]),
  })
}

/** A server that takes the connection and never answers. */
export async function silentServer() {
  return serve({ 'GET /api/tags': () => {} })
}

type Route = (res: ServerResponse) => unknown

async function serve(routes: Record<string, Route>) {
  const requests: IncomingMessage[] = []
  const server = createServer((req, res) => {
    requests.push(req)
    const route = routes[`${req.method} ${req.url}`]
    if (route === undefined) res.writeHead(404).end()
    else route(res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}`, requests }
}

function stream(res: ServerResponse, events: object[]): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) res.write(`data: ${JSON.stringify(event)}\n\n`)
  res.end('data: [DONE]\n\n')
}
