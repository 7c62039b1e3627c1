import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { Agent, type AlliumError, type Logger, type Middleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type McpCall, type McpLayerOptions, type McpServer, mcp } from '../src/mcp.ts'
import { type HttpFixture, httpFixture } from './mcp/http.ts'

const child = fileURLToPath(new URL('./mcp/stdio.child.mjs', import.meta.url))
const stdio = { command: process.execPath, args: [child] }

/** An agent whose model calls the tools that it is asked to, one turn each. */
function agentWith(
  server: McpServer,
  options: Partial<McpLayerOptions> & { layers?: Middleware[]; toolTimeout?: number } = {},
) {
  const { layers = [], toolTimeout = 10_000, ...rest } = options
  const log: string[] = []
  const logger: Logger = { debug: (m) => log.push(m), warn: (m) => log.push(m), error: (m) => log.push(m) }
  const steps: ScriptedStep[] = []
  const model = scriptedModel(steps)
  const reconnect = { delay: 10, maxDelay: 50 }
  const agent = new Agent({ model, logger, toolTimeout })
    .use(layers)
    .use(mcp({ name: 'srv', reconnect, ...rest, ...server }))
  onTestFinished(() => agent.dispose())
  const run = (name: string, args: Record<string, unknown> = {}, options = {}) => {
    steps.push({ toolCalls: [{ name, args }] }, 'Done.')
    return agent.run('go', options)
  }
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await run(`srv__${name}`, args)).toolCalls[0]?.result
  return { agent, model, log, run, call }
}
const failure = (promise: PromiseLike<unknown>): Promise<AlliumError> =>
  Promise.resolve(promise).then(
    () => expect.fail('it worked'),
    (error) => error,
  )

const alive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

let http: HttpFixture | undefined
async function httpServer(): Promise<HttpFixture> {
  http = await httpFixture()
  return http
}
afterEach(async () => {
  await http?.stop()
  http = undefined
})

const kinds = ['stdio', 'streamable HTTP'] as const
const serverOf = async (kind: (typeof kinds)[number]): Promise<McpServer> =>
  kind === 'stdio' ? stdio : { url: (await httpServer()).url }

it('starts a program once more to ask for its revision, and not again when it is restarted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'allium-mcp-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'starts')
  const { call } = agentWith({ ...stdio, env: { STARTS: file } })
  await call('die')
  expect((await call('add', { a: 1, b: 2 }))?.content).toBe('The sum is 3.')
  expect(readFileSync(file, 'utf8')).toBe('...')
})

describe.each(kinds)('tools.mcp over %s', (kind) => {
  it('gives the model the tools of all pages, with their schemas, and calls them', async () => {
    const { call, model } = agentWith(await serverOf(kind))
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({
      content: 'The sum is 3.',
      value: { sum: 3 },
      status: 'ok',
    })
    const tools = model.requests[0]?.tools ?? []
    expect(tools.map(({ name }) => name)).toEqual(
      ['add', 'media', 'fail', 'refuse', 'wrong', 'slow', 'die', 'env', 'pid', 'storm', 'change', 'files_read'].map(
        (name) => `srv__${name}`,
      ),
    )
    expect(tools[0]).toMatchObject({ description: 'Adds two numbers', jsonSchema: { required: ['a', 'b'] } })
  })

  it('gives texts, images, audio and resources as parts, and text files as text', async () => {
    const { call } = agentWith(await serverOf(kind))
    expect((await call('media'))?.content).toEqual([
      { type: 'text', text: 'Here:' },
      { type: 'image', data: 'aW1n', mediaType: 'image/png' },
      { type: 'file', data: 'YXVk', mediaType: 'audio/wav' },
      { type: 'text', text: 'file:///a.txt\nInside.' },
      { type: 'text', text: 'file:///b/r.csv\na,b' },
      { type: 'file', data: 'cGRm', mediaType: 'application/pdf', filename: 'c.pdf' },
      { type: 'text', text: 'd: https://example.com/d (text/html)' },
    ])
  })

  it('tells the model what the server calls an error, and goes on', async () => {
    const { call } = agentWith(await serverOf(kind))
    expect(await call('fail')).toMatchObject({ content: 'The disk is full.', isError: true, status: 'error' })
    expect(await call('refuse')).toMatchObject({
      content: expect.stringContaining('There is no "refuse" today.'),
      isError: true,
      error: { code: 'mcp.refused' },
    })
    expect(await call('files_read')).toMatchObject({ content: 'read', status: 'ok' })
  })

  it('refuses a structured result that breaks the schema of the server', async () => {
    const { call } = agentWith(await serverOf(kind))
    expect(await call('wrong')).toMatchObject({
      content: expect.stringContaining('does not fit its schema'),
      isError: true,
    })
  })

  it('tells the server of an abort, and not why', async () => {
    const { run, log } = agentWith(await serverOf(kind))
    const notes = () => [...log, ...(http?.notes ?? [])].join('\n')
    const running = run('srv__slow')
    const failed = failure(running)
    await vi.waitFor(() => expect(notes()).toContain('begun'), 15_000)
    running.abort('the user of tenant 7 left')
    expect((await failed).name).toBe('AbortError')
    await vi.waitFor(() => expect(notes()).toContain('cancelled: The call was cancelled.'), 15_000)
    expect(notes()).not.toContain('tenant 7')
  })

  it('cancels a call that takes too long', async () => {
    const { call, log } = agentWith(await serverOf(kind), { timeout: 300 })
    expect(await call('slow')).toMatchObject({ isError: true, error: { code: 'tool.timeout' } })
    await vi.waitFor(() => expect([...log, ...(http?.notes ?? [])].join('\n')).toContain('cancelled'), 15_000)
  })

  it('gives an error result for the tools that vanished, and warns of new ones', async () => {
    const { call, log } = agentWith(await serverOf(kind))
    expect(await call('change')).toMatchObject({ content: 'changed' })
    await vi.waitFor(() => expect(log.join('\n')).toContain('no longer the tools: "add"'), 15_000)
    expect(log.join('\n')).toContain('new tools, which an agent only adds at init: "extra"')
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({
      content: 'The MCP server "srv" no longer has the tool "add".',
      isError: true,
    })
  })
})

describe('tools.mcp', () => {
  it('tells which revision it needs if a server refuses the handshake', async () => {
    const error = { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2026-07-28'] } }
    const fetch = async () => Response.json({ jsonrpc: '2.0', id: 0, error }, { status: 400 })
    const refused = await failure(agentWith({ url: 'https://mcp.example.com', fetch }).agent.init())
    expect(refused).toMatchObject({ code: 'mcp.unreachable', message: expect.stringContaining('revision 2025-11-25') })
    expect(refused.message).toContain('Unsupported protocol version')
  })

  it('leaves no child when the agent is disposed', async () => {
    const one = agentWith(stdio)
    const two = agentWith(stdio)
    const [a, b] = [Number((await one.call('pid'))?.content), Number((await two.call('pid'))?.content)]
    expect(a).not.toBe(b)
    expect([alive(a), alive(b)]).toEqual([true, true])
    await one.agent.dispose()
    expect([alive(a), alive(b)]).toEqual([false, true])
    await two.agent.dispose()
    expect(alive(b)).toBe(false)
  })

  it('gives two agents with one layer a child each', async () => {
    const layer = mcp({ name: 'srv', ...stdio })
    const model = () => scriptedModel([{ toolCalls: [{ name: 'srv__pid', args: {} }] }, 'Done.'])
    const agents = [new Agent({ model: model() }).use(layer), new Agent({ model: model() }).use(layer)]
    const pids = await Promise.all(agents.map(async (agent) => (await agent.run('go')).toolCalls[0]?.result.content))
    expect(new Set(pids).size).toBe(2)
    await Promise.all(agents.map((agent) => agent.dispose()))
    expect(pids.map((pid) => alive(Number(pid)))).toEqual([false, false])
  })

  it('leaves no child when another layer fails at init', async () => {
    const started: number[] = []
    const failing: Middleware = { name: 'failing', agent: () => Promise.reject(new Error('no')) }
    const { agent, log } = agentWith(stdio)
    agent.use(failing)
    await expect(agent.init()).rejects.toThrow('no')
    for (const line of log)
      started.push(
        ...(line
          .match(/started as (\d+)/)
          ?.slice(1)
          .map(Number) ?? []),
      )
    expect(started.map(alive)).toEqual([false])
  })

  it('starts the server again when it died, and says so of the call that it died in', async () => {
    const { call, log } = agentWith(stdio)
    const first = (await call('pid'))?.content
    expect(await call('die')).toMatchObject({ isError: true, error: { code: 'mcp.lost' } })
    const again = await call('pid')
    expect(again).toMatchObject({ status: 'ok' })
    expect(again?.content).not.toBe(first)
    expect(log).toContain('The connection to the MCP server "srv" dropped. Reconnecting.')
  })

  it('finds a server over HTTP again that was started anew, by itself', async () => {
    const { url, stop, start, sessions } = await httpServer()
    const { call, log } = agentWith({ url })
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ status: 'ok' })
    await stop()
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({
      isError: true,
      error: { code: expect.stringMatching(/^mcp/) },
    })
    await start()
    await vi.waitFor(() => expect(sessions.size).toBe(1), 15_000)
    await vi.waitFor(() => expect(log.join('\n')).toContain('connected again'), 15_000)
    expect(await call('add', { a: 2, b: 2 })).toMatchObject({ content: 'The sum is 4.' })
  })

  it('repeats a call once whose session the server forgot, for it did not run', async () => {
    const { url, sessions, requests } = await httpServer()
    const { call } = agentWith({ url })
    await call('add', { a: 1, b: 2 })
    ;(sessions as Map<string, unknown>).clear()
    expect(await call('add', { a: 2, b: 2 })).toMatchObject({ content: 'The sum is 4.', status: 'ok' })
    expect(requests.length).toBeGreaterThan(0)
  })

  it('ends a call that runs when an HTTP server dies', async () => {
    const { url } = await httpServer()
    const { call } = agentWith({ url }, { reconnect: { attempts: 1, delay: 10 } })
    expect(await call('die')).toMatchObject({ isError: true, error: { code: 'mcp.lost' } })
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({
      content: 'The MCP server "srv" is not connected at the moment.',
      error: { code: 'mcp.unreachable' },
    })
  })

  it('finds out whether the server is there before it sends the call after a lost one', async () => {
    const { url } = await httpServer()
    let down = false
    let answer = () => {}
    const pinged = new Promise<void>((resolve) => (answer = resolve))
    const cut: typeof fetch = async (to, init) => {
      const ping = String(init?.body).includes('"ping"')
      if (ping) await pinged
      if (ping || down) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })
      return fetch(to, init)
    }
    const { call } = agentWith({ url, fetch: cut })
    await call('add', { a: 1, b: 2 })
    down = true
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ error: { code: 'mcp.lost' } })
    down = false
    const next = call('add', { a: 2, b: 2 })
    await new Promise(setImmediate)
    answer()
    expect(await next).toMatchObject({ content: 'The sum is 4.', status: 'ok' })
  })

  it('is disposed at once while a server is away', async () => {
    const { url, stop, requests } = await httpServer()
    const { agent, call } = agentWith({ url }, { reconnect: { delay: 60_000 } })
    await call('add', { a: 1, b: 2 })
    await stop()
    await call('add', { a: 1, b: 2 })
    await agent.dispose()
    expect(requests.length).toBeGreaterThan(2)
  })

  it('does not repeat a call that a server refused for another reason', async () => {
    const { url, requests } = await httpServer()
    const refusing: typeof fetch = async (to, init) =>
      String(init?.body).includes('tools/call') ? new Response('bad', { status: 400 }) : fetch(to, init)
    const { call } = agentWith({ url, fetch: refusing })
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({
      content: 'The MCP server "srv" answered with HTTP status 400.',
      error: { code: 'mcp.refused' },
    })
    // The question for the revision, and one handshake.
    expect(requests.filter((headers) => headers['mcp-session-id'] === undefined)).toHaveLength(2)
  })

  it('ends the session of an HTTP server when it is disposed', async () => {
    const { url, sessions } = await httpServer()
    const { agent } = agentWith({ url })
    await agent.init()
    expect(sessions.size).toBe(1)
    await agent.dispose()
    expect(sessions.size).toBe(0)
  })

  it.each([
    [
      'a program that there is not',
      { command: '/no/such/program', args: ['--token=s3cr3t-token'] },
      'command /no/such/program',
    ],
    ['a program that ends', { command: process.execPath, args: ['-e', ''] }, 'Connection closed'],
    [
      'a server that is slow',
      { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] },
      'timed out',
      { connectTimeout: 400 },
    ],
  ])(
    'fails init for %s, with its name and no secret',
    async (_what, server, words, slow: { connectTimeout?: number } = {}) => {
      const { agent } = agentWith(server, slow)
      const error = await failure(agent.init())
      expect(error).toMatchObject({ code: 'mcp.unreachable', details: { server: 'srv' }, expose: false })
      expect(error.message).toContain('"srv"')
      expect(error.message).toContain(words)
      expect(told(error)).not.toContain('s3cr3t')
    },
  )

  it('fails init where nobody listens, without the query of its URL', async () => {
    const { url, stop } = await httpServer()
    await stop()
    const error = await failure(agentWith({ url: `${url}?key=s3cr3t-token` }).agent.init())
    expect(error).toMatchObject({ code: 'mcp.unreachable', message: expect.stringContaining('ECONNREFUSED') })
    expect(error.message).toContain(`(${url})`)
    expect(told(error)).not.toContain('s3cr3t')
  })

  it('keeps the values of headers out of errors, whoever quotes them', async () => {
    const { url } = await httpServer()
    const echo: typeof fetch = async (_url, init) =>
      new Response(new Headers(init?.headers).get('authorization'), { status: 422 })
    const refused = await failure(
      agentWith({ url, headers: { authorization: 'Bearer s3cr3t-token' }, fetch: echo }).agent.init(),
    )
    expect(refused.message).toContain('[secret]')
    const broken = await failure(agentWith({ url, headers: { authorization: 'Bearer s3cr3t\ntoken' } }).agent.init())
    expect([told(refused), told(broken)].join()).not.toContain('s3cr3t')
  })

  it('tells what a child said before it ended, without the values of its variables', async () => {
    const { agent, log } = agentWith({ ...stdio, env: { SAY: 's3cr3t-token' } })
    const error = await failure(agent.init())
    expect(error.message).toContain('no luck with [secret]')
    expect(told(error) + log.join()).not.toContain('s3cr3t')
  })

  it('sends its headers, and asks a function for them each time', async () => {
    const { url, requests } = await httpServer()
    let asked = 0
    const { call } = agentWith({ url, headers: async () => ({ 'x-token': `token-${++asked}` }) })
    await call('fail')
    expect(new Set(requests.map((headers) => headers['x-token'])).size).toBe(requests.length)
  })

  it('asks for the headers of each principal, of a call and of its cancellation, and of nobody for the listing', async () => {
    const { url, requests } = await httpServer()
    const headers = (principal: unknown) => ({ 'x-user': (principal as { userId?: string })?.userId ?? 'nobody' })
    const { run } = agentWith({ url, headers })
    const as = (userId: string) => ({ session: { principal: { tenantId: 'acme', userId } } })
    const late = new AbortController()
    const slow = run('srv__slow', {}, { ...as('eve'), signal: late.signal }).catch(() => {})
    await vi.waitFor(() => expect(http?.notes).toContain('begun'), 15_000)
    // The first one gets the answer that the script has for eve.
    for (const userId of ['ada', 'bob', 'ada']) await run('srv__fail', {}, as(userId))
    late.abort()
    await slow
    await vi.waitFor(() => expect(http?.notes.join()).toContain('cancelled'), 15_000)
    const users = requests.map((headers) => headers['x-user'])
    expect(users.filter((user) => user !== 'nobody')).toEqual(['eve', 'bob', 'ada', 'eve'])
    expect(users[0]).toBe('nobody')
  })

  it('leaves out tools that an agent cannot have, names them, and has the others', async () => {
    const { url, shelf } = await httpServer()
    let deep: object = { type: 'string' }
    for (let i = 0; i < 3_000; i++) deep = { type: 'array', items: deep }
    const inputSchema = { type: 'object' }
    shelf.more = [
      { name: 'files.read', description: 'Collides', inputSchema },
      { name: 'deep', description: 'Too deep', inputSchema: { type: 'object', properties: { deep } } },
      { name: 'own', description: 'Has the name of another tool', inputSchema },
      { name: 'x'.repeat(70), description: 'Too long', inputSchema },
    ] as never
    const own: Middleware = {
      name: 'own',
      tools: [{ name: 'srv__own', description: 'Own', jsonSchema: {}, execute: () => 'own' }],
    }
    const { call, log } = agentWith({ url }, { layers: [own] })
    expect([(await call('own'))?.content, (await call('add', { a: 1, b: 2 }))?.content]).toEqual([
      'own',
      'The sum is 3.',
    ])
    const left = log.filter((line) => line.includes('left out'))
    expect(left).toEqual([
      expect.stringMatching(/"files\/read".*called "srv__files_read" here, as "files\/read", "files.read" are/),
      expect.stringMatching(/"files.read"/),
      expect.stringMatching(/"deep" of the MCP server "srv" is left out: its schema is nested more than/),
      expect.stringMatching(/"srv__own".*"srv__own" is registered twice/),
      expect.stringMatching(/"srv__x{70}" .* has a name that providers reject/),
    ])
  })

  it('lists the tools few times for a server that says often that they changed', async () => {
    const { url, shelf } = await httpServer()
    const { call, agent } = agentWith({ url })
    await agent.init()
    const before = shelf.listed ?? 0
    expect((await call('storm'))?.content).toBe('stormed')
    await vi.waitFor(() => expect(shelf.listed).toBeGreaterThan(before), 15_000)
    // Two pages each: the one that the first notice began, and at the most one behind it.
    expect((shelf.listed ?? 0) - before).toBeLessThanOrEqual(4)
  })

  it('hands a child only the variables that are named', async () => {
    vi.stubEnv('MCP_TEST_SECRET', 'hidden')
    vi.stubEnv('MCP_TEST_NAMED', 'passed')
    onTestFinished(() => void vi.unstubAllEnvs())
    const variables = async (env: Record<string, string | true> | string[] | undefined) =>
      JSON.parse(String((await agentWith({ ...stdio, ...(env && { env }) }).call('env'))?.content))
    expect(await variables(undefined)).not.toMatchObject({ MCP_TEST_SECRET: 'hidden' })
    expect(await variables(['MCP_TEST_NAMED'])).toMatchObject({ MCP_TEST_NAMED: 'passed' })
    const given = await variables({ MCP_TEST_NAMED: true, OWN: '1', MCP_TEST_UNSET: true })
    expect(given).toMatchObject({ MCP_TEST_NAMED: 'passed', OWN: '1' })
    expect(Object.keys(given)).not.toContain('MCP_TEST_SECRET')
  })

  it('gives only the tools of include, without those of exclude, under the prefix, and warns of unknown names', async () => {
    const { url } = await httpServer()
    const { agent, model, run, log } = agentWith(
      { url },
      { prefix: 'x_', include: ['add', 'fail', 'ad'], exclude: ['fail'] },
    )
    expect((await run('x_add', { a: 1, b: 1 })).toolCalls[0]?.result.content).toBe('The sum is 2.')
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['x_add'])
    expect(log.join()).toContain('has no tool "ad". Fix the options include and exclude')
    expect(agent.inspect().layers.map(({ name }) => name)).toEqual(['tools:mcp:srv'])
  })

  it.each([
    ['all', true, ['add', 'fail']],
    ['some, by name', ['fail'], ['fail']],
    ['as a function says', ({ tool, args }: McpCall) => tool === 'add' && args.a === 1, ['add']],
  ])('asks a human for calls: %s', async (_what, requireApproval, asked) => {
    const { url } = await httpServer()
    const waits: string[] = []
    for (const name of ['add', 'fail']) {
      const { status } = await agentWith({ url }, { requireApproval }).run(`srv__${name}`, { a: 1, b: 1 })
      if (status === 'suspended') waits.push(name)
    }
    expect(waits).toEqual(asked)
  })

  it('shows the structured result as the value to layers around it', async () => {
    const { url } = await httpServer()
    const seen: unknown[] = []
    const watch: Middleware = {
      name: 'watch',
      async tool(_ctx, next) {
        const result = await next()
        seen.push(result.value)
        return result
      },
    }
    await agentWith({ url }, { layers: [watch] }).call('add', { a: 1, b: 2 })
    expect(seen).toEqual([{ sum: 3 }])
  })

  it('leaves the results of other tools as they are', async () => {
    const value = { structuredContent: 1 }
    const other: Middleware = {
      name: 'other',
      tools: [{ name: 'own', description: 'x', jsonSchema: {}, execute: () => value }],
    }
    const { url } = await httpServer()
    expect((await agentWith({ url }, { layers: [other] }).run('own')).toolCalls[0]?.result.value).toEqual(value)
  })

  it.each([
    [{ name: '', command: 'x' }, 'a name'],
    [{ name: 'srv' } as never, 'either a command or a url'],
    [{ name: 'srv', command: 'x', url: 'http://x' }, 'either a command or a url'],
    [{ name: 'srv', url: 'file:///etc/passwd' }, 'an http or https url'],
    [{ name: 'srv', url: 'no url' }, 'an http or https url'],
  ])('refuses %o', (options, words) => {
    expect(() => mcp(options)).toThrow(
      expect.objectContaining({ code: 'layer.config', message: expect.stringContaining(words) }),
    )
  })
})

/** All that a log would show of an error. */
function told(error: Error): string {
  return inspect(error, { depth: 10, showHidden: true })
}
