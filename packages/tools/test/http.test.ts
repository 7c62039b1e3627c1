import { gzipSync } from 'node:zlib'
import { Agent } from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { AddressCheck } from '../src/http/address.ts'
import { HeadersByOrigin } from '../src/http/headers.ts'
import { HostList } from '../src/http/host-list.ts'
import { loadNode } from '../src/http/node.ts'
import { followRedirect } from '../src/http/request.ts'
import { type HttpOptions, http } from '../src/index.ts'
import { ask, serve, serveText } from './http/scene.ts'

const refusal = { status: 'error', isError: true, error: { code: 'http.refused' } }

describe('tools.http', () => {
  it('gives the model status, place, type and text of the answer', async () => {
    const { at, url } = await serveText('{"rain":true}', { 'content-type': 'application/json' })
    const { content } = await ask({ hosts: [], allowPrivate: [at] }, `${url}/today`)
    expect(content).toBe(`200 ${url}/today\ncontent-type: application/json\n\n{"rain":true}`)
  })

  it('shows the model one tool, with what it may ask', async () => {
    const { model } = await ask({ hosts: ['api.example.com', '*.example.org'] }, 'x:')
    expect(model.requests[0]?.tools).toMatchObject([
      { name: 'http_request', description: expect.stringContaining('api.example.com, *.example.org') },
    ])
    expect(Object.keys(model.requests[0]?.tools[0]?.jsonSchema.properties as object)).toEqual(['url'])
  })

  it('asks once, without the headers of a browser, and closes its socket', async () => {
    const { at, url, asked, quiet } = await serveText('hi')
    await ask({ hosts: [], allowPrivate: [at] }, url)
    expect(asked).toMatchObject([{ method: 'GET', headers: { 'user-agent': 'allium', connection: 'close' } }])
    await quiet()
  })

  it('sends method, body and headers where they are allowed', async () => {
    const { at, url, asked } = await serveText('made')
    const options: HttpOptions = {
      hosts: [],
      allowPrivate: [at],
      methods: ['GET', 'POST'],
      requestHeaders: ['X-Trace'],
    }
    await ask(options, { url, method: 'POST', body: '{"a":1}', headers: { 'x-trace': '7' } })
    expect(asked).toMatchObject([
      { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': '7', 'x-trace': '7' } },
    ])
  })

  it.each<[string, Record<string, unknown>]>([
    ['a method', { method: 'DELETE' }],
    ['a body', { body: 'x' }],
    ['a header', { headers: { authorization: 'mine' } }],
    ['a url that is no text', { url: 7 }],
  ])('refuses %s that it does not allow, also without a validator of schemas', async (_, args) => {
    const { at, url, asked } = await serve()
    const { result } = await ask({ hosts: [], allowPrivate: [at] }, { url, ...args })
    expect(result).toMatchObject(refusal)
    expect(asked).toEqual([])
  })

  it.each([
    'https://example.com/',
    'https://a.example.org:8443/',
    'https://example.org/',
    'https://a.example.org.evil.test/',
    'https://evil-example.org/',
    'https://api.example.com@evil.test/',
    'https://api.example.com./',
    'not a url',
  ])('refuses %s, which is none of its hosts', async (url) => {
    const { result } = await ask({ hosts: ['api.example.com', '*.example.org'] }, url)
    expect(result).toMatchObject(refusal)
  })

  it('knows hosts by their exact name, by what is below one, and by port', () => {
    const list = new HostList('x', ['api.example.com', '*.example.org', 'b.test:8443', '*:81', 'd.test:443'])
    for (const url of [
      'https://API.example.com/x',
      'http://a.b.example.org',
      'https://b.test:8443',
      'http://c.test:81/',
      'https://d.test/',
    ])
      expect(list.check(url).href).toBe(new URL(url).href)
    expect(() => list.check('http://d.test/')).toThrow(/is not allowed/)
  })

  it('is told its hosts, or is not made', () => {
    for (const hosts of [[], ['https://a.test'], ['a.test/path'], ['*.*'], ['u@a.test'], ['']])
      expect(() => http({ hosts })).toThrow(expect.objectContaining({ code: 'layer.config' }))
    expect(() => http({ hosts: [], allowPrivate: ['*'] })).toThrow(/exactly, without "\*"/)
  })

  it.each<[string, Partial<HttpOptions>]>([
    ['a length of 0', { maxBytes: 0 }],
    ['no method', { methods: [] }],
    ['a method that is none', { methods: ['TRACE' as 'GET'] }],
    ['the header host', { requestHeaders: ['Host'] }],
    ['headers for no origin', { headers: { 'a.test/path': { key: 'secret-key' } } }],
  ])('is not made with %s', (_, options) => {
    expect(() => http({ hosts: ['*'], ...options })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })

  it('is named after its tool', () => {
    expect(http({ hosts: ['*'], name: 'web' }).name).toBe('tools:http:web')
  })
})

describe('tools.http, private addresses (fault 30)', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://0x7f000001:PORT/',
    'http://2130706433:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://１２７.0.0.1:PORT/',
    'http://0.0.0.0:PORT/',
    'http://localhost:PORT/',
    'http://[::1]:PORT/',
    'http://[::]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://[fd00:ec2::254]:PORT/',
    'http://10.0.0.1:PORT/',
    'http://169.254.169.254:PORT/latest/meta-data/',
    'http://168.63.129.16:PORT/',
    'https://127.0.0.1:PORT/',
  ])('refuses %s, though every host is allowed', async (url) => {
    const { port, asked } = await serveText('inside')
    const { result, content } = await ask({ hosts: [`*:${port}`] }, url.replace('PORT', String(port)))
    expect(result).toMatchObject(refusal)
    expect(content).toBe('The host leads to an address that is not public.')
    expect(asked).toEqual([])
  })

  it.each(['file:///etc/passwd', 'ftp://a.test/', 'data:text/plain,x', 'gopher://127.0.0.1/', 'unix:/run/x.sock'])(
    'refuses %s: http and https alone',
    async (url) => {
      expect((await ask({ hosts: ['*'] }, url)).content).toContain('only http: and https:')
    },
  )

  it('refuses a URL with a user name, wherever it leads', async () => {
    const { at, asked } = await serve()
    const { result } = await ask({ hosts: ['*'], allowPrivate: [at] }, `http://example.com@${at}/`)
    expect(result).toMatchObject(refusal)
    expect(asked).toEqual([])
  })

  it.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '169.254.169.254',
    '10.1.2.3',
    '::127.0.0.1',
    'fe80::1%lo',
    'no address',
  ])('refuses a name that resolves to %s, and does not tell the model', async (address) => {
    const { port, asked } = await serveText('inside')
    const lookup = async () => [address]
    const { result, content } = await ask({ hosts: [`*:${port}`], lookup }, `http://rebound.test:${port}/`)
    expect(result).toMatchObject(refusal)
    expect(content).not.toContain(address)
    expect(asked).toEqual([])
  })

  it('refuses a name with one private address among public ones', async () => {
    const { port } = await serveText('inside')
    const lookup = async () => ['93.184.215.14', '127.0.0.1']
    expect((await ask({ hosts: [`*:${port}`], lookup }, `http://a.test:${port}/`)).result).toMatchObject(refusal)
  })

  it('connects to the address that was checked: a name is resolved once a request', async () => {
    const { port } = await serveText('the first')
    const addresses = ['127.0.0.1', '127.0.0.2']
    const lookup = async () => [addresses.shift() as string]
    const host = `rebound.test:${port}`
    const { content } = await ask({ hosts: [], allowPrivate: [host], lookup }, `http://${host}/`)
    expect(content).toContain('the first')
    expect(addresses).toEqual(['127.0.0.2'])
  })

  it('resolves again for a redirect, and refuses what has become private', async () => {
    const inner = await serveText('inside')
    const outer = await serve((_, response) =>
      response.writeHead(302, { location: `http://b.test:${inner.port}/` }).end(),
    )
    const lookup = async () => ['127.0.0.1']
    const options = { hosts: [`b.test:${inner.port}`], allowPrivate: [`a.test:${outer.port}`], lookup }
    const { result } = await ask(options, `http://a.test:${outer.port}/`)
    expect(result).toMatchObject(refusal)
    expect([outer.asked.length, inner.asked.length]).toEqual([1, 0])
  })

  it.each([
    'http://127.0.0.1:PORT/',
    '//127.0.0.1:PORT/',
    'http://[::1]:PORT/',
    'http://2130706433:PORT/',
    'file:///etc/passwd',
  ])('refuses a redirect to %s, and does not tell where it led', async (location) => {
    const inner = await serveText('inside')
    const to = location.replace('PORT', String(inner.port))
    const outer = await serve((_, response) => response.writeHead(307, { location: to }).end())
    const { result, content } = await ask({ hosts: ['*'], allowPrivate: [outer.at] }, outer.url)
    expect(result).toMatchObject(refusal)
    expect(content).toBe(`${outer.url} redirects to a request that is not allowed.`)
    expect(inner.asked).toEqual([])
  })

  it.each([
    '169.254.169.254',
    '::ffff:169.254.169.254',
    'fe80::1',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2001:0:a9fe:a9fe::1',
  ])('lets nobody reach the metadata of a cloud, not even by a host that may be private: %s', async (address) => {
    const lookup = async () => [address]
    const { result } = await ask({ hosts: [], allowPrivate: ['inside.test'], lookup }, 'http://inside.test/')
    expect(result).toMatchObject(refusal)
  })

  it('takes ::1 for an address like 127.0.0.1, and not for one of the kind that is never asked', async () => {
    const check = new AddressCheck(await loadNode())
    expect(['::1', '127.0.0.1', '::2'].map((address) => check.refusal(address)?.code)).toEqual([
      undefined,
      undefined,
      'http.refused',
    ])
  })

  it.each<[string, () => Promise<string[]>]>([
    ['finds nothing', async () => []],
    ['fails', () => Promise.reject(new Error('SERVFAIL at 10.0.0.53'))],
    ['gives what is no list', async () => ({}) as string[]],
  ])('tells the model of a lookup that %s, without a word of it', async (_, lookup) => {
    const { content, error } = await ask({ hosts: ['a.test'], lookup }, 'http://a.test/')
    expect(content).toMatch(/^http:\/\/a\.test could not be reached( \(ENOTFOUND\))?\.$/)
    expect(error.code).toBe('http.failed')
  })
})

describe('tools.http, redirects', () => {
  const hop = (to: () => string, status = 302) =>
    serve((_, response) => response.writeHead(status, { location: to() }).end())

  it('follows them, and tells where the answer came from', async () => {
    const end = await serveText('the end')
    const start = await hop(() => `${end.url}/there`)
    const { content } = await ask({ hosts: [], allowPrivate: [start.at, end.at] }, start.url)
    expect(content).toBe(`200 ${end.url}/there\ncontent-type: text/plain\n\nthe end`)
    await start.quiet()
  })

  it('asks a function for the headers of each call, with the principal of its session', async () => {
    const { at, url, asked } = await serveText('You sent secret-of-ann.')
    const headers = async (principal: unknown) => ({
      [url]: { authorization: `Bearer secret-of-${(principal as { userId: string }).userId}` },
    })
    const { content } = await ask({ hosts: [], allowPrivate: [at], headers }, url, [], { userId: 'ann' })
    expect(asked[0]?.headers.authorization).toBe('Bearer secret-of-ann')
    expect(content).toContain('You sent [secret].')
  })

  it('sends headers to their own origin alone, and those of the model no further', async () => {
    const end = await serveText('the end')
    const start = await hop(() => end.url)
    const options: HttpOptions = {
      hosts: [],
      allowPrivate: [start.at, end.at],
      headers: { [start.url]: { authorization: 'Bearer secret-token' } },
      requestHeaders: ['cookie'],
    }
    await ask(options, { url: start.url, headers: { cookie: 'c=1' } })
    expect(start.asked[0]?.headers).toMatchObject({ authorization: 'Bearer secret-token', cookie: 'c=1' })
    expect(end.asked[0]?.headers).not.toHaveProperty('authorization')
    expect(end.asked[0]?.headers).not.toHaveProperty('cookie')
  })

  it('ends after so many', async () => {
    const loop = await hop(() => loop.url)
    const { result } = await ask({ hosts: [], allowPrivate: [loop.at], maxRedirects: 2 }, loop.url)
    expect(result).toMatchObject({ ...refusal, content: expect.stringContaining('more than 2 times') })
    expect(loop.asked).toHaveLength(3)
  })

  const hosts = new HostList('x', ['a.test', 'b.test'])
  const allowed = {
    hosts,
    headers: new HeadersByOrigin('x'),
    methods: ['GET', 'POST'],
    maxBytes: 1,
    maxRedirects: 1,
    lookup: undefined,
  }
  const post = { url: new URL('https://a.test/'), method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'a,b' }

  it.each([301, 302, 303])('asks for the answer of a POST with GET after %i, without the body', (status) => {
    expect(followRedirect(post, status, '/done', allowed)).toMatchObject({
      method: 'GET',
      body: undefined,
      headers: {},
    })
  })

  it.each([307, 308])('repeats a POST after %i', (status) => {
    expect(followRedirect(post, status, '/again', allowed)).toEqual({ ...post, url: new URL('https://a.test/again') })
  })

  it('follows to no plain http from https, and to no method that is not allowed', () => {
    expect(() => followRedirect(post, 307, 'http://a.test/', allowed)).toThrow(
      /redirects to a request that is not allowed/,
    )
    expect(() => followRedirect(post, 303, '/x', { ...allowed, methods: ['POST'] })).toThrow(
      /redirects to a request that is not allowed/,
    )
  })
})

describe('tools.http, answers', () => {
  const secret = 'Bearer sk-1234567890'

  it('shows the model no header that was added, even where the server repeats it', async () => {
    const echo = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`You sent ${request.headers.authorization}.`)
    })
    const headers = { [echo.url]: { authorization: secret } }
    const { model, content } = await ask(
      { hosts: [], allowPrivate: [echo.at], headers },
      `${echo.url}/?q=sk-1234567890`,
    )
    expect(content).toContain('You sent [secret].')
    expect(JSON.stringify(model.requests)).not.toContain(secret)
    expect(content).not.toContain('sk-1234567890')
  })

  it.each<[string, (secret: string) => string]>([
    ['escaped in a URL', (text) => encodeURIComponent(text)],
    ['escaped twice', (text) => encodeURIComponent(encodeURIComponent(text))],
    ['in small letters', (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase())],
    ['in JSON', (text) => JSON.stringify({ text })],
    ['in JSON within JSON', (text) => JSON.stringify(JSON.stringify({ text }))],
    [
      'in escapes of JSON',
      (text) => [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    ['as it is', (text) => text],
  ])('shows the model no header %s', async (_, write) => {
    const token = 'ab"c+de/fg\\hi==%41'
    const body = `It was ${write(token)}, was it not?`
    const server = await serveText(body)
    const headers = { [server.url]: { authorization: `Bearer ${token}` } }
    const { content } = await ask({ hosts: [], allowPrivate: [server.at], headers }, server.url)
    const shown = String(content).split('It was ')[1]
    expect(shown).toMatch(/^\W*(text)?\W*\[secret\]\W*, was it not\?$/)
  })

  it.each([404, 503])(
    'makes a status of %i an error, with its body for the model and its status for a retry',
    async (status) => {
      const server = await serve((_, response) =>
        response.writeHead(status, { 'content-type': 'text/plain', 'retry-after': '7' }).end('No such town.'),
      )
      const { result } = await ask({ hosts: [], allowPrivate: [server.at] }, server.url)
      expect(result).toMatchObject({
        status: 'error',
        content: `${status} ${server.url}/\ncontent-type: text/plain\n\nNo such town.`,
        error: { code: 'http.status', status, responseHeaders: { 'retry-after': '7' } },
      })
    },
  )

  it('refuses a body that is longer than its limit, as it comes', async () => {
    let sent = 0
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000))) sent += 1_000
      }
      response.on('drain', more)
      more()
    })
    const { result } = await ask({ hosts: [], allowPrivate: [server.at], maxBytes: 5_000 }, server.url)
    expect(result).toMatchObject({ ...refusal, content: 'The answer is longer than 5000 bytes.' })
    await server.quiet()
    expect(sent).toBeLessThan(50_000_000)
  })

  it('unpacks what is packed, and refuses a bomb by what it would unpack to', async () => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
    const small = await serveText(gzipSync('small'), headers)
    expect((await ask({ hosts: [], allowPrivate: [small.at] }, small.url)).content).toContain('\n\nsmall')
    const bomb = await serveText(gzipSync(Buffer.alloc(20_000_000)), headers)
    expect((await ask({ hosts: [], allowPrivate: [bomb.at] }, bomb.url)).result).toMatchObject(refusal)
    await bomb.quiet()
  })

  it('refuses an encoding that it does not know', async () => {
    const { at, url } = await serveText('x', { 'content-type': 'text/plain', 'content-encoding': 'zip' })
    expect((await ask({ hosts: [], allowPrivate: [at] }, url)).content).toContain('packed as "zip"')
  })

  it('keeps a binary body from the model, unless its type is allowed', async () => {
    const png = new Uint8Array([137, 80, 78, 71])
    const { at, url } = await serveText(png, { 'content-type': 'image/png' })
    expect((await ask({ hosts: [], allowPrivate: [at] }, url)).result).toMatchObject(refusal)
    const { content } = await ask({ hosts: [], allowPrivate: [at], files: ['image/*'] }, url)
    expect(content).toMatchObject([{ type: 'text' }, { type: 'image', mediaType: 'image/png' }])
    expect(Buffer.from((content as { data?: Uint8Array }[])[1]?.data ?? [])).toEqual(Buffer.from(png))
  })

  it('reads a text in its own charset', async () => {
    const { at, url } = await serveText(new Uint8Array([0xe5]), { 'content-type': 'text/plain; charset=latin1' })
    expect((await ask({ hosts: [], allowPrivate: [at] }, url)).content).toMatch(/å$/)
  })

  it('tells the model of a host that cannot be reached, and the log why', async () => {
    const server = await serve((request) => request.socket.destroy())
    const { content, error } = await ask({ hosts: [], allowPrivate: [server.at] }, server.url)
    expect(content).toBe(`${server.url} could not be reached (ECONNRESET).`)
    expect(error).toMatchObject({ code: 'http.failed', cause: { code: 'ECONNRESET' } })
  })

  it('takes an answer that was cut for a failure, and no success', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    expect((await ask({ hosts: [], allowPrivate: [server.at] }, server.url)).error.code).toBe('http.failed')
  })

  it.each(['before the answer', 'in its middle'])('closes its socket when the run is aborted %s', async (when) => {
    const server = await serve((_, response) => {
      if (when === 'in its middle') response.writeHead(200, { 'content-type': 'text/plain' }).write('half')
      begin()
    })
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const model = scriptedModel([{ toolCalls: [{ name: 'http_request', args: { url: server.url } }] }])
    const run = new Agent({ model }).use(http({ hosts: [], allowPrivate: [server.at] })).run('go')
    await begun
    run.abort('enough')
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
    await server.quiet()
  })

  it('fails at once where the server switches to another protocol', async () => {
    const { at, url } = await serve((_, response) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n')
    })
    const { content } = await ask({ hosts: [], allowPrivate: [at] }, url)
    expect(content).toBe(`${url} could not be reached.`)
  })

  it('ends at its timeout, and closes its socket', async () => {
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const server = await serve(() => begin())
    const clock = manualClock()
    const model = scriptedModel([{ toolCalls: [{ name: 'http_request', args: { url: server.url } }] }, 'Late.'])
    const agent = new Agent({ model, clock, logger: { warn() {}, error() {} } })
    const run = agent.use(http({ hosts: [], allowPrivate: [server.at], timeout: 30 })).run('go')
    await begun
    await clock.advance(30)
    expect((await run).toolCalls[0]?.result.content).toBe('The tool "http_request" took longer than 30 ms.')
    await server.quiet()
  })
})
