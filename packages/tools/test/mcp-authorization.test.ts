import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, type Logger } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withBoundTokens } from '../src/mcp/bound-tokens.ts'
import { namesPrivateHost } from '../src/mcp/private-host.ts'
import { type McpPrincipalServer, mcp } from '../src/mcp.ts'
import { memoryProvider } from './mcp/oauth.ts'
import { endless, json, rawServer } from './mcp/raw.ts'

/** An MCP server that asks for an authorization, and says where. */
async function guarded(resourceMetadata: string) {
  return rawServer((_, response) => {
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${resourceMetadata}"` }).end()
    return true
  })
}

/** A host inside, which is an authorization server if it is asked. */
async function inside() {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    asked.push(`${request.method} ${request.url} ${body}`)
    const { origin } = new URL(url)
    if (request.url === '/huge')
      return endless(response.writeHead(200, { 'content-type': 'application/json' }), 'x'.repeat(65_536))
    if (request.url === '/resource') return json(response, { resource: origin, authorization_servers: [origin] })
    if (request.url?.startsWith('/.well-known/') === true) return json(response, metadata(origin))
    if (request.url === '/token')
      return json(response, { access_token: 'new', refresh_token: 'next', token_type: 'bearer' })
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return { url, at: `127.0.0.1:${port}`, asked }
}

function metadata(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }
}

async function begin(options: object) {
  const log: string[] = []
  const logger: Logger = { warn: (line) => log.push(line), error() {} }
  const agent = new Agent({ model: scriptedModel([]), logger }).use(
    mcp({ name: 'srv', ...(options as McpPrincipalServer) }),
  )
  onTestFinished(() => agent.dispose())
  const error = await agent.init().then(
    () => undefined,
    (error: { code?: string }) => error.code,
  )
  return { error, log }
}

const client = { client_id: 'me', redirect_uris: ['http://127.0.0.1/callback'] }

describe('A host inside that a server names for its authorization', () => {
  test('is not asked, and the log names it', async () => {
    const { url: host, asked } = await inside()
    const { url } = await guarded(`${host}/resource`)
    const { error, log } = await begin({ url, authProvider: memoryProvider({ client }).provider })
    expect([error, asked]).toEqual(['mcp.unauthorized', []])
    expect(log).toEqual([expect.stringContaining(host)])
  })

  test('is not asked where the metadata of the server itself names it as the authorization server', async () => {
    const { url: host, asked } = await inside()
    const server = await rawServer((_, response) => {
      response.writeHead(401).end()
      return true
    })
    server.http.prependListener('request', (request, response) => {
      if (request.url?.includes('oauth-protected-resource') !== true) return
      json(response, { resource: server.url, authorization_servers: [host] })
    })
    const { error } = await begin({ url: server.url, authProvider: memoryProvider({ client }).provider })
    expect([error, asked]).toEqual(['mcp.unauthorized', []])
  })

  test('is not asked by a fetch of the developer, either', async () => {
    const seen: string[] = []
    const { url } = await guarded('http://169.254.169.254/latest/meta-data')
    const fetch = (to: URL | string, init: RequestInit) => {
      seen.push(new URL(to).host)
      return globalThis.fetch(to, init)
    }
    await begin({ url, fetch, authProvider: memoryProvider({ client }).provider })
    expect(new Set(seen)).toEqual(new Set([new URL(url).host]))
  })

  test('is asked where allowPrivate names it, or allows all', async () => {
    const { url: host, at, asked } = await inside()
    const { url } = await guarded(`${host}/resource`)
    for (const allowPrivate of [[at], true]) {
      await begin({ url, allowPrivate, authProvider: memoryProvider({ client }).provider })
      expect(asked.splice(0)[0]).toBe('GET /resource ')
    }
  })

  test('is not read to the end where its answer has none', async () => {
    const { url: host, at } = await inside()
    const { url } = await guarded(`${host}/huge`)
    expect((await begin({ url, allowPrivate: [at], authProvider: memoryProvider({ client }).provider })).error).toBe(
      'mcp.unauthorized',
    )
  })

  test.each([
    'http://localhost/',
    'http://a.localhost:80/',
    'http://intranet/',
    'http://db.internal./',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://10.1.2.3/',
    'http://172.31.0.1/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
  ])('is known by its name: %s', (url) => {
    expect(namesPrivateHost(new URL(url))).toBe(true)
  })

  test.each(['https://example.com/', 'http://8.8.8.8/', 'http://172.32.0.1/', 'http://[2606:4700::1111]/'])(
    'is not %s',
    (url) => {
      expect(namesPrivateHost(new URL(url))).toBe(false)
    },
  )
})

describe('A refresh token', () => {
  const old = { access_token: 'old', refresh_token: 'secret-refresh', token_type: 'bearer' }

  async function refreshing(tokens: (host: string) => object, of: (host: string) => object = () => client) {
    const host = await inside()
    const { url } = await guarded(`${host.url}/resource`)
    const { provider } = memoryProvider({ client: of(host.url), tokens: () => tokens(host.url) as never })
    const { log } = await begin({
      url,
      allowPrivate: [host.at],
      authProvider: { ...provider, validateResourceURL: async () => undefined },
    })
    return { sent: host.asked.filter((line) => line.includes('secret-refresh')), asked: host.asked, log }
  }

  test('without an issuer is not sent where the server points, and the log says why', async () => {
    const { sent, asked, log } = await refreshing(() => old)
    expect([sent, asked.length > 1]).toEqual([[], true])
    expect(log).toContainEqual(expect.stringMatching(/refresh token.*is not used.*issuer/))
    expect(log.join()).not.toContain('secret-refresh')
  })

  test('of another issuer is not sent', async () => {
    expect((await refreshing(() => ({ ...old, issuer: 'https://auth.example.com/' }))).sent).toEqual([])
  })

  test('is bound to its issuer in this process where the provider does not store it', async () => {
    let stored: object | undefined
    const { provider } = memoryProvider({
      client,
      tokens: () => stored as never,
      saveTokens: ({ issuer: _, ...rest }) => void (stored = rest),
    })
    const bound = withBoundTokens(provider, () => expect.fail('It was withheld.'))
    await bound.saveTokens({ ...old, issuer: 'https://auth.example.com/' } as never)
    expect(await bound.tokens()).toEqual({ ...old, issuer: 'https://auth.example.com/' })
    expect(stored).toEqual(old)
  })

  test('is sent to the issuer that it names, or that the client is registered at', async () => {
    const own = (host: string) => ({ ...old, issuer: host })
    expect((await refreshing(own)).sent).toHaveLength(1)
    expect(
      (
        await refreshing(
          () => old,
          (issuer) => ({ ...client, issuer }),
        )
      ).sent,
    ).toHaveLength(1)
  })
})
