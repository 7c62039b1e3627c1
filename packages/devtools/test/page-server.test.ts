import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createJournal } from '../src/host/journal.ts'
import type { LiveAgent } from '../src/host/live-agent.ts'
import { servePage } from '../src/host/page-server.ts'

/** Starts the inspector on an agent's process that answers with these bytes. */
async function inspector(answer = ''): Promise<number> {
  const child = createServer((request) => void request.socket.end(answer))
  await new Promise<void>((resolve) => void child.listen(0, '127.0.0.1', resolve))
  const agent = { current: async () => child.address() as AddressInfo } as unknown as LiveAgent
  const { port, server } = await servePage({
    port: 0,
    token: 'secret-token',
    key: 'key',
    agent,
    journal,
    dev: async () => {},
  })
  onTestFinished(() => void [child.close(), server.close()])
  return port
}

const journal = createJournal(() => {})

function get(port: number, target: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const authorization = 'authorization: Bearer secret-token\r\n'
  socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${authorization}connection: close\r\n\r\n`)
  return text(socket)
}

test.each(['/.//evil.example/', '/x/..//evil.example/', 'http://a//evil.example/'])(
  'signs in at %s without a redirect to another host',
  async (target) => {
    const answer = await get(await inspector(), `${target}?token=secret-token`)
    expect(/^location: (.*)\r$/im.exec(answer)?.[1]).toBe('/evil.example/')
  },
)

test('answers 503 if the answer of the process cannot be forwarded, and goes on', async () => {
  const port = await inspector('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n')
  expect(await get(port, '/api/agents')).toMatch(/^HTTP\/1\.1 503 /)
  expect(await get(port, '/')).toMatch(/^HTTP\/1\.1 200 /)
})
