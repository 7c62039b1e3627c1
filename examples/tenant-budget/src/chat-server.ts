import { createServer, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { messageOf } from 'allium'
import { z } from 'zod'
import type { Books } from './books.ts'
import type { ChatAgent } from './chat-agent.ts'
import type { Principal } from './principal.ts'

const Question = z.object({ question: z.string().max(4_000) })

/** Bytes of a request. */
const longest = 20_000

export interface Backend {
  agent: ChatAgent
  books: Books
  /** Returns the owner of an API key. Neither the model nor the user can choose the principal. */
  whoIs(key: string): Principal | undefined
  /** Receives messages for the operator that users must not see. */
  log(line: string): void
}

/** `POST /chat` streams an answer as server-sent events. `GET /bill` returns the bill of the caller's tenant. */
export function chatServer({ agent, books, whoIs, log }: Backend): Server {
  return createServer(async (request, response) => {
    const principal = whoIs(request.headers.authorization?.replace(/^Bearer /, '') ?? '')
    if (principal === undefined) return void response.writeHead(401).end()
    if (request.url === '/bill') return void response.end(JSON.stringify(books.bill(principal.tenantId)))
    if (!(Number(request.headers['content-length']) <= longest)) return void response.writeHead(413).end()
    const asked = Question.safeParse(await json(request).catch(() => undefined))
    if (request.url !== '/chat' || !asked.success) return void response.writeHead(400).end()
    await answer(agent, asked.data.question, principal, response, log)
  })
}

async function answer(
  agent: ChatAgent,
  question: string,
  principal: Principal,
  response: ServerResponse,
  log: Backend['log'],
) {
  const gone = new AbortController()
  response.on('close', () => gone.abort()) // the user disconnected, so cancel the provider's request
  const run = agent.run(question, { session: { principal }, signal: gone.signal })
  try {
    for await (const event of run) {
      if (event.type === 'text-delta') send(response, 'text', event.delta)
      if (event.type === 'model:reset') send(response, 'reset', '') // discard this answer: another attempt follows
    }
    const { status, reason, text, state } = await run
    const retryAfter = state['guard:rateLimit:retryAfter']
    if (retryAfter > 0) return void response.writeHead(429, { 'retry-after': String(retryAfter) }).end()
    if (status === 'blocked') log(`${principal.tenantId} was rejected: ${reason}`)
    send(response, 'end', { status, text })
  } catch (error) {
    log(`${principal.tenantId}: ${messageOf(error)}`)
    send(response, 'failed', '')
  }
  response.end()
}

/** Sends the headers with the first event, so the response can still become a 429 until then. */
function send(response: ServerResponse, event: string, data: unknown): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}
