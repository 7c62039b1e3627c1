import { createServer, type Server as HttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Server, type ServerOptions, server } from '../src/index.ts'
import { toFastify, toKoa, toNode } from '../src/node.ts'
import { agentOf, allOf, ask, asStream, principal, silent, textIn } from './kit.ts'

const made = () => server(agentOf(['One.', 'Two three.']), { principal, logger: silent })

async function urlOf(http: HttpServer): Promise<string> {
  if (!http.listening) await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

const mounts: Record<string, (app: Server) => Promise<string>> = {
  'node:http': (app) => urlOf(createServer(toNode(app))),
  'Express 5': async (app) => `${await urlOf(createServer(express().use('/ai', toNode(app)) as RequestListener))}/ai`,
  'Express 5, behind its body parser': (app) =>
    urlOf(
      createServer(
        express()
          .use(express.json({ limit: '1mb' }))
          .use(toNode(app)) as RequestListener,
      ),
    ),
  'Fastify 5': async (app) => {
    const http = fastify()
    http.all('/*', toFastify(app))
    await http.listen({ port: 0, host: '127.0.0.1' })
    return urlOf(http.server)
  },
  Koa: (app) => urlOf(createServer(new Koa().use(toKoa(app)).callback())),
}

describe.each(Object.entries(mounts))('under %s', (_, mount) => {
  test('a run is answered, and streamed', async () => {
    const url = await mount(made())
    const whole = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
    expect([whole.status, await whole.json()]).toEqual([200, expect.objectContaining({ text: 'One.' })])
    const stream = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    expect(textIn(await allOf(stream))).toBe('Two three.')
  })

  test('a body that nests 100,000 deep is refused', async () => {
    const url = await mount(made())
    const body = `{"input":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const refused = await ask(`${url}/sessions/a/runs`, { body })
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ code: 'request.invalid' })])
  })

  test('nobody is let in, and a path that leads nowhere is told', async () => {
    const url = await mount(made())
    expect((await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, as: '' })).status).toBe(401)
    expect((await ask(`${url}/nowhere`)).status).toBe(404)
  })
})

describe('under Fastify', () => {
  const fastified = async (options: Partial<ServerOptions>, http = fastify()) => {
    http.all('/*', toFastify(server(agentOf(['One.']), { principal, logger: silent, ...options })))
    await http.listen({ port: 0, host: '127.0.0.1' })
    return urlOf(http.server)
  }

  test('a body of 3 MiB comes in where the server takes it', async () => {
    const url = await fastified({ maxBodyBytes: 8 * 1024 ** 2 })
    const answer = await ask(`${url}/sessions/a/runs`, { body: { input: 'a'.repeat(3 * 1024 ** 2) } })
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ text: 'One.' })])
  })

  test('a body that is too long, cut, or no JSON is refused in the form of the server', async () => {
    const url = await fastified({})
    const send = async (body: string, type = 'application/json') => {
      const headers = { authorization: 'acme/ann', 'content-type': type }
      const answer = await fetch(`${url}/sessions/a/runs`, { method: 'POST', headers, body })
      const { code, requestId } = (await answer.json()) as { code: string; requestId: string }
      return [answer.status, code, typeof requestId, answer.headers.get('cache-control')]
    }
    expect(await send(`{"input":"${'a'.repeat(6 * 1024 ** 2)}"}`)).toEqual([
      413,
      'request.too_large',
      'string',
      'no-store',
    ])
    expect(await send('{"input":')).toEqual([400, 'request.invalid', 'string', 'no-store'])
    expect(await send('<a/>', 'application/xml')).toEqual([415, 'request.media_type', 'string', 'no-store'])
  })

  test('what a hook throws is for the error handler around the route', async () => {
    const http = fastify()
    http.addHook('preHandler', async () => {
      throw new Error('Not today.')
    })
    http.setErrorHandler((_, __, reply) => reply.code(418).send('of the app'))
    const answer = await ask(`${await fastified({}, http)}/sessions/a/runs`, { body: { input: 'Hi' } })
    expect([answer.status, await answer.text()]).toEqual([418, 'of the app'])
  })
})
