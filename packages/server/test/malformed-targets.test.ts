import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import { expect, onTestFinished, test } from 'vitest'
import { type ServerOptions, server } from '../src/index.ts'
import { inspector } from '../src/inspect.ts'
import { serve, toFastify, toKoa, toNode } from '../src/node.ts'
import { agentOf, principal, silent } from './kit.ts'

/** Targets of a request line that are no path, or that are no URL after a host. */
const targets = [
  ...['//', '///', '//[', '//:0', '//a:b', 'x', '*', '?', '/%', '/%zz', '/\\', '/#', '/sessions/%ff/messages'],
  ...['http://', 'http://[', 'http://a:b', 'x:y', '//mcp', '/sessions?limit=%zz'],
]
const hosts = ['127.0.0.1', '', '[', 'a b', 'a:b', '127.0.0.1:99999', 'a/b', '%']

/** Sends one request over a connection of its own. Returns the status, or `closed`. */
async function statusOf(
  port: number,
  target: string,
  host = '127.0.0.1',
  method = 'GET',
  json = '{}',
): Promise<number | 'closed'> {
  const socket = connect(port, '127.0.0.1')
  const body = `content-type: application/json\r\ncontent-length: ${json.length}\r\n`
  const head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nauthorization: acme/ann\r\nconnection: close\r\n`
  socket.write(`${head}${method === 'POST' ? `${body}\r\n${json}` : '\r\n'}`)
  const status = /^HTTP\/1\.1 (\d+)/.exec(await text(socket).catch(() => ''))?.[1]
  return status === undefined ? 'closed' : Number(status)
}

function app() {
  const options: Partial<ServerOptions> = { mcp: true, openai: true, agui: true, uiStream: 7 }
  const inspect = inspector({ access: () => 'all' })
  return server(agentOf([]), { principal, logger: silent, inspect, ...options })
}

async function listen(handler: RequestListener): Promise<number> {
  const http = createServer(handler).listen(0, '127.0.0.1')
  onTestFinished(() => void http.close())
  await once(http, 'listening')
  return (http.address() as AddressInfo).port
}

const entries: Record<string, () => Promise<number>> = {
  async 'serve()'() {
    const { url, close } = await serve(app(), { port: 0, signals: false, drainTimeout: 0 })
    onTestFinished(close)
    return Number(new URL(url).port)
  },
  'toNode()': () => listen(toNode(app())),
  'toNode() in Express': () => listen(express().use(toNode(app()))),
  'toKoa()': () => listen(new Koa().use(toKoa(app()) as never).callback()),
  async 'toFastify()'() {
    const fastify = Fastify()
    fastify.all('/*', toFastify(app()) as never)
    onTestFinished(() => void fastify.close())
    return Number(new URL(await fastify.listen({ port: 0, host: '127.0.0.1' })).port)
  },
}

for (const [entry, start] of Object.entries(entries))
  test(`${entry} answers a malformed target or host with a status below 500, and goes on`, async () => {
    const port = await start()
    const failed: unknown[] = []
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD'])
      for (const [target, host] of [...targets.map((each) => [each, undefined]), ...hosts.map((each) => ['/', each])]) {
        const status = await statusOf(port, target as string, host, method)
        if (status === 'closed' || status < 400 || status >= 500) failed.push([method, target, host, status])
      }
    expect(failed).toEqual([])
    expect(await statusOf(port, '/healthz')).toBe(200)
  })

test('Fastify answers a body that is no JSON at a malformed target with 400', async () => {
  const port = await (entries['toFastify()'] as () => Promise<number>)()
  const statuses = await Promise.all(
    ['//', '///', '//['].map((target) => statusOf(port, target, '127.0.0.1', 'POST', '{')),
  )
  expect(statuses).toEqual([400, 400, 400])
})
