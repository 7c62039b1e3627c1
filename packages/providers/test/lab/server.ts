import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Format, Json, WireEvent } from './format.ts'
import { formats } from './formats/index.ts'

/** How the server answers one request. */
export type Reply = StaticReply | ((body: Json) => StaticReply)
type StaticReply =
  | { events: readonly WireEvent[]; ending?: 'end' | 'break' | 'stall' }
  | { status: number; headers?: Record<string, string> }

/** What one model is asked and answers. */
export interface Script {
  /** The base URL for the provider's package, without a path of the format. */
  url: string
  format: Format
  replies: Reply[]
  requests: Json[]
  /** Called at each request. */
  onRequest?: (() => void) | undefined
  /** What the server answered with status 400. */
  problems: string[]
  /** Resolves when the caller closes the socket of an answer that stalls. */
  closed: Promise<void>
}

/** A server on this machine that speaks all formats: `/FORMAT/SCRIPT/…` is a request to a script. */
export async function startServer() {
  const scripts = new Map<string, Script & { close(): void }>()
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const path = request.url as string
    const script = scripts.get(path.split('/')[2] as string)
    if (script === undefined) return void response.writeHead(404).end(`No script for ${path}`)
    const json = JSON.parse(body) as Json
    const { format, requests, replies } = script
    requests.push(json)
    script.onRequest?.()
    const problems = format.problems(json, path)
    if (problems.length > 0) {
      script.problems.push(...problems)
      return fail(response, 400, format.failure(400, problems.join('; ')))
    }
    const next = replies[Math.min(requests.length, replies.length) - 1] as Reply
    const reply = typeof next === 'function' ? next(json) : next
    if ('status' in reply) return fail(response, reply.status, format.failure(reply.status, 'boom'), reply.headers)
    await stream(response, format.contentType, reply, script.close)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let count = 0
  return {
    /** Adds a script for one model; the last reply is repeated. */
    script(name: string, ...replies: Reply[]): Script {
      const format = formats.find((one) => one.name === name)
      if (format === undefined) throw new Error(`The format ${name} is not in formats/index.ts.`)
      let close = () => {}
      const closed = new Promise<void>((resolve) => {
        close = resolve
      })
      const id = `s${++count}`
      const script = { url: `${origin}/${name}/${id}`, format, replies, requests: [], problems: [], closed, close }
      scripts.set(id, script)
      return script
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function fail(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

async function stream(
  response: ServerResponse,
  contentType: string,
  { events, ending = 'end' }: Extract<StaticReply, { events: unknown }>,
  closed: () => void,
): Promise<void> {
  response.on('close', closed)
  response.writeHead(200, { 'content-type': contentType })
  for (const event of events) await new Promise((written) => response.write(event, written))
  if (ending === 'end') response.end()
  if (ending === 'break') response.socket?.destroy()
}
