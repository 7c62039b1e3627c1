import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a provider does with one request. */
export type Wire =
  | { say: string }
  | { calls: readonly { name: string; args: unknown }[] }
  | { refuse: number; headers?: Record<string, string> }
  /** The stream ends without its finish, behind this text. */
  | { cut: string }
  /** The stream stays open behind this text, until the client leaves. */
  | { stall: string }
  /** The length limit is reached in the middle of a call's arguments. */
  | { half: string }

/** How the text of a stream ends that stays open. */
export const lastOfStall = '…'

/**
 * A provider that speaks OpenAI's chat format on this machine. A request says in its last user message which script it
 * goes by, as `#7`; it counts for itself what it served and what that cost.
 */
export async function provider() {
  const scripts = new Map<string, { tenant: string; wire: Wire[] }>()
  const tokens = new Map<string, number>()
  const seen = { requests: 0, calls: 0, leaks: [] as string[] }
  const secrets = new Set<string>()

  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.setHeader('content-type', 'text/plain').end('Seven is odd.')
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    seen.requests++
    for (const secret of secrets) if (body.includes(secret)) seen.leaks.push(body.slice(0, 300))
    const { model, messages } = JSON.parse(body) as { model: string; messages: { role: string; content: unknown }[] }
    const asked = JSON.stringify(messages.filter(({ role }) => role === 'user'))
    const id = [...asked.matchAll(/#(\d+)/g)].at(-1)?.[1] ?? ''
    const script = scripts.get(id)
    if (script === undefined) return void response.writeHead(400).end(`no script for "${asked.slice(0, 200)}"`)
    const helper = answerOfHelper(model, asked, id)
    if (model !== 'judge') seen.calls++
    const wire = helper ?? script.wire.shift() ?? { refuse: 400 }
    tokens.set(script.tenant, (tokens.get(script.tenant) ?? 0) + serve(response, wire, seen.requests))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    scripts,
    /** What each tenant has to pay. */
    tokens,
    /** Requests in all; those that are calls of the agent, its sub-agents and its layers; those with a secret in them. */
    seen,
    /** What no request may hold. */
    secrets,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Models that layers ask for themselves always know what to say. */
function answerOfHelper(model: string, asked: string, id: string): Wire | undefined {
  if (model === 'judge')
    return { say: JSON.stringify({ score: asked.includes('unseemly') ? 0.1 : 0.9, why: 'rubric' }) }
  if (model === 'emulator') return { say: `imagined for #${id}` }
  if (model === 'summary') return { say: 'They talked about numbers.' }
  return undefined
}

/** Gives what the answer costs. */
function serve(response: ServerResponse, wire: Wire, n: number): number {
  if ('refuse' in wire) {
    response.writeHead(wire.refuse, { 'content-type': 'application/json', ...wire.headers })
    response.end(JSON.stringify({ error: { message: 'refused' } }))
    return 0
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (event: object) =>
    response.write(`data: ${JSON.stringify({ id: `c${n}`, created: 0, model: 'm', ...event })}\n\n`)
  const delta = (change: object, finish_reason: string | null = null) =>
    write({ choices: [{ index: 0, delta: change, finish_reason }] })
  const text = 'say' in wire ? wire.say : 'cut' in wire ? wire.cut : 'stall' in wire ? wire.stall : ''
  for (let i = 0; i < text.length; i += 5) delta({ content: text.slice(i, i + 5) })
  if ('cut' in wire) response.end()
  if ('cut' in wire || 'stall' in wire) return Math.ceil(text.length / 4) // what was sent is the agent's own estimate
  if ('calls' in wire)
    for (const [index, { name, args }] of wire.calls.entries())
      delta({ tool_calls: [call(index, `call_${n}_${index}`, name, JSON.stringify(args))] })
  if ('half' in wire) delta({ tool_calls: [call(0, `call_${n}`, wire.half, '{"a": 1, "b')] })
  delta({}, 'calls' in wire ? 'tool_calls' : 'half' in wire ? 'length' : 'stop')
  const usage = { prompt_tokens: 40 + (n % 13), completion_tokens: 5 + (n % 7) }
  const total = usage.prompt_tokens + usage.completion_tokens
  write({ choices: [], usage: { ...usage, total_tokens: total } })
  response.end('data: [DONE]\n\n')
  return total
}

function call(index: number, id: string, name: string, json: string): object {
  return { index, id, type: 'function', function: { name, arguments: json } }
}
