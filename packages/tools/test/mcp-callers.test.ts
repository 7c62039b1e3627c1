import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { growth } from '../../testing/test/growth.ts'
import { type Caller, Callers } from '../src/mcp/callers.ts'

const caller: Caller = { signal: new AbortController().signal, principal: {}, ask: () => Promise.reject(new Error()) }
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' } as const

/** The answer to a call, read to its end. */
async function heard(pieces: readonly string[]) {
  const callers = new Callers()
  const transport: Pick<StreamableHTTPClientTransport, 'send'> = { send: async () => {} }
  callers.watch(transport)
  await transport.send(call, { headers: callers.headersFor(caller) })
  const chunks = pieces.map((piece) => new TextEncoder().encode(piece))
  const body = new ReadableStream({ pull: (to) => (chunks.length > 0 ? to.enqueue(chunks.shift()) : to.close()) })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  await callers.trackResponse(response, JSON.stringify(call)).text()
  return callers
}

test('A question is its call’s, wherever its event is cut', async () => {
  const event = 'event: message\r\ndata: {"id":"q1","method":"elicitation/create"}\r\n\r\n'
  for (let at = 1; at < event.length; at++)
    expect((await heard([event.slice(0, at), event.slice(at)])).callerOf('q1')).toBe(caller)
})

test('A long event in small pieces takes time by its length alone', async () => {
  const read = (count: number) => heard(Array.from({ length: count }, () => 'x'.repeat(1_000)))
  expect(await growth(read, 1_000, 4_000, 10)).toBeLessThan(10)
})
