import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, type Logger } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type McpServer, mcp } from '../src/mcp.ts'
import { memoryProvider } from './mcp/oauth.ts'
import { rawServer } from './mcp/raw.ts'

/** Another host, and the requests that it got: each with its key and its body. */
async function elsewhere() {
  const got: string[] = []
  const http = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    got.push(`${request.method} ${request.headers['x-api-key']} ${body}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"inside"}')
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/latest`, got }
}

function agentWith(server: McpServer) {
  const logger: Logger = { warn() {}, error() {} }
  const model = scriptedModel([{ toolCalls: [{ name: 'srv__read', args: {} }] }, 'Done.'])
  const agent = new Agent({ model, logger }).use(mcp({ name: 'srv', ...server } as never))
  onTestFinished(() => agent.dispose())
  return agent
}

const headers = { 'x-api-key': 'key-of-the-server' }

describe('An MCP server that redirects to another origin', () => {
  test.each([301, 302, 303, 307, 308])(
    'with %i gets neither the headers nor the message sent there',
    async (status) => {
      const { url: location, got } = await elsewhere()
      const { url } = await rawServer(({ method }, response) => {
        if (method !== 'tools/call') return false
        response.writeHead(status, { location }).end()
        return true
      })
      const { toolCalls } = await agentWith({ url, headers }).run('go')
      expect([toolCalls[0]?.result.isError, got]).toEqual([true, []])
      expect(toolCalls[0]?.result.content).not.toContain('inside')
    },
  )

  test('fails init, and the error names that origin', async () => {
    const { url: location } = await elsewhere()
    const { url } = await rawServer((_, response) => {
      response.writeHead(307, { location }).end()
      return true
    })
    const failed = expect(agentWith({ url, headers }).init()).rejects
    await failed.toMatchObject({ code: 'mcp.unreachable', message: expect.stringContaining(new URL(location).origin) })
  })

  test('from its metadata of an authorization sends no request there', async () => {
    const { url: location, got } = await elsewhere()
    const server = await rawServer((_, response) => {
      response.writeHead(401).end()
      return true
    })
    server.http.prependListener('request', (request, response) => {
      if (request.url?.includes('.well-known') === true) response.writeHead(302, { location }).end()
    })
    const client = { client_id: 'me', redirect_uris: ['http://127.0.0.1/callback'] }
    const agent = agentWith({ url: server.url, authProvider: memoryProvider({ client }).provider })
    await expect(agent.init()).rejects.toMatchObject({ code: 'mcp.unauthorized' })
    expect(got).toEqual([])
  })
})

test('A redirect within the origin of an MCP server is followed, with headers and message', async () => {
  const seen: string[] = []
  const { url } = await rawServer((_, response, { url, headers }) => {
    seen.push(`${url} ${headers['x-api-key']}`)
    if (url?.endsWith('/') === true) return false
    response.writeHead(307, { location: `${url}/` }).end()
    return true
  })
  const { toolCalls } = await agentWith({ url, headers }).run('go')
  expect(toolCalls[0]?.result.content).toBe('read')
  expect(new Set(seen)).toEqual(new Set(['/mcp key-of-the-server', '/mcp/ key-of-the-server']))
})
