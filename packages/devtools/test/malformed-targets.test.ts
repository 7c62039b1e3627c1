import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { devRoutes } from '../src/host/dev-routes.ts'
import { createJournal } from '../src/host/journal.ts'
import { createLiveAgent } from '../src/host/live-agent.ts'
import { servePage } from '../src/host/page-server.ts'

/** Starts the inspector without an agent. */
async function inspector(): Promise<number> {
  const journal = createJournal(() => {})
  const agent = createLiveAgent({} as never, journal)
  const { port, server } = await servePage({
    port: 0,
    token: 'secret-token',
    key: 'key',
    agent,
    journal,
    dev: devRoutes('/', () => Promise.reject(new Error('Nothing is replayed.'))),
  })
  onTestFinished(() => void server.close())
  return port
}

async function statusOf(port: number, target: string, headers: string): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n${headers}\r\n`)
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1])
}

const authorization = 'authorization: Bearer secret-token\r\n'

test.each(['//', '///', '/\\', '//[', '//:0', '//a:b', '///?token=x', 'http://', 'http://['])(
  'answers the target %s, which is no URL, with 400 and goes on, with and without the token',
  async (target) => {
    const port = await inspector()
    expect(await statusOf(port, target, '')).toBe(400)
    expect(await statusOf(port, target, authorization)).toBe(400)
    expect(await statusOf(port, '/', authorization)).toBe(200)
  },
)

test.each(['*', '/%', '/%zz', '/#', '/api/%ff', '//host/dev', '/dev/%zz'])(
  'answers the unusual target %s and goes on',
  async (target) => {
    const port = await inspector()
    expect(await statusOf(port, target, '')).toBe(401)
    expect([200, 404, 503]).toContain(await statusOf(port, target, authorization))
  },
)
