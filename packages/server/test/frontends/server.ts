import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Agent, defineTool, type Message, type ModelChunk, type ModelRequest } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryStore } from '@allium/store'
import { server } from '../../src/index.ts'
import { toNode } from '../../src/node.ts'

const noon = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  jsonSchema: { type: 'object', properties: {} },
  execute: () => 'Noon.',
})
const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object', properties: {} },
  requireApproval: true,
  execute: () => 'Done.',
})

/** What `POST /go-on/:id` opens, once, before or after somebody waits for it. */
const gates = new Map<string, ReturnType<typeof gate>>()
function gateOf(id: string): ReturnType<typeof gate> {
  const found = gates.get(id) ?? gate()
  gates.set(id, found)
  return found
}
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Answers by the newest question, so that front ends can ask in any order. */
async function* answer({ messages, principal }: ModelRequest): AsyncGenerator<ModelChunk> {
  const questions = messages.filter(({ role }) => role === 'user').map(textOf)
  const question = questions.at(-1) ?? ''
  const isAnswered = messages.at(-1)?.role === 'tool'
  const isText = isAnswered || !/^(What time|Refund)/.test(question)
  if (question.startsWith('What time')) yield* isAnswered ? text('It is noon.') : call('clock')
  else if (question.startsWith('Refund')) yield* isAnswered ? text('Refunded.') : call('refund')
  else if (question.startsWith('Count ')) {
    yield { type: 'text-delta', delta: 'One ' }
    await gateOf(question.slice(6)).opened
    yield* text('two.')
  } else yield* text(`You said: ${questions.join(', ')}.`)
  // deep-chat 2.4.2 loses a text that comes together with the end of its stream, so its page says when it shows the text.
  const { end } = principal as { end?: string }
  if (end !== undefined && isText) await gateOf(end).opened
  yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 5 } }
}

function textOf({ content }: Message): string {
  return typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function* text(delta: string): Generator<ModelChunk> {
  yield { type: 'text-delta', delta }
}

function* call(name: string): Generator<ModelChunk> {
  const callId = crypto.randomUUID()
  yield { type: 'tool-input-start', callId, name }
  yield { type: 'tool-input-end', callId }
}

/**
 * Starts a server that all front ends can use. It also serves the pages of a folder under `/pages/`.
 *
 * @param pages a folder of scripts
 */
export async function listen(pages: string): Promise<{ url: string; close: () => void }> {
  const sessions = memoryStore()
  const agent = new Agent({
    name: 'support',
    model: { id: 'front-ends', stream: answer },
    tools: [noon, refund],
    approvals: { secret: 'a secret of the front ends' },
  }).use(persist({ store: sessions }))
  const principal = (request: Request) => {
    const [tenantId, userId] = request.headers.get('authorization')?.replace('Bearer ', '').split('/') ?? []
    const end = request.headers.get('x-end') ?? undefined
    return userId === undefined ? undefined : { tenantId, userId, end }
  }
  const handle = toNode(server(agent, { principal, sessions, uiStream: 7, agui: true, openai: true }))
  const http = createServer(async (request, response) => {
    const [, first, name = ''] = request.url?.split('/') ?? []
    if (first === 'go-on') response.end(`${gateOf(name).open()}`)
    else if (first !== 'pages') handle(request, response)
    else if (name.endsWith('.js'))
      response.setHeader('content-type', 'text/javascript').end(await readFile(join(pages, name)).catch(() => ''))
    else response.setHeader('content-type', 'text/html').end(`<script type="module" src="/pages/${name}.js"></script>`)
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const close = () => http.closeAllConnections() ?? http.close()
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close }
}
