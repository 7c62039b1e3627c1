import { type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { keyHeader } from '../messages.ts'
import type { LiveAgent } from './live-agent.ts'

export interface ProxyOptions {
  readonly agent: LiveAgent
  readonly key: string
}

/** Forwards a request to the agent's process, and its response to the client. */
export async function proxy(
  request: IncomingMessage,
  response: ServerResponse,
  { agent, key }: ProxyOptions,
): Promise<void> {
  const target = await agent.current()
  if (target === undefined) return unavailable(response)
  // The origin was checked. The agent's process needs neither the cookie nor the token.
  const { host: _host, origin: _origin, cookie: _cookie, authorization: _authorization, ...headers } = request.headers
  const { method, url: path } = request
  const options = { host: '127.0.0.1', port: target.port, method, path, headers: { ...headers, [keyHeader]: key } }
  const forwarded = send(options, (answer) => {
    try {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
    } catch {
      // The parser of node:http accepts a status that it cannot send, and nothing would catch the error here.
      return void forwarded.destroy(new Error('The answer cannot be forwarded.'))
    }
    answer.pipe(response)
    answer.once('error', () => response.destroy())
  })
  forwarded.once('error', () => (response.headersSent ? response.destroy() : unavailable(response)))
  response.once('close', () => forwarded.destroy())
  request.pipe(forwarded)
}

function unavailable(response: ServerResponse): void {
  const message = 'The agent is not loaded. The terminal and the page show its error.'
  response.writeHead(503, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ code: 'dev.unavailable', message }))
}
