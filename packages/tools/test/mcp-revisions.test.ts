import { Agent, type Session } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { context, trace } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { type McpLayerOptions, type McpRevision, mcp } from '../src/mcp.ts'
import { httpFixture } from './mcp/http.ts'
import { modernServer } from './mcp/modern.ts'
import { json, rawServer } from './mcp/raw.ts'

const call = (name: string, args: Record<string, unknown> = {}) => ({ name: `srv__${name}`, args })

function agentWith(url: string, steps: ScriptedStep[], options: Partial<McpLayerOptions> = {}) {
  const log: string[] = []
  const clock = manualClock(0)
  const logger = { debug() {}, warn: (line: string) => log.push(line), error: (line: string) => log.push(line) }
  const agent = new Agent({ model: scriptedModel(steps), logger, clock, toolTimeout: 600_000 })
  agent.use(mcp({ name: 'srv', url, ...options }))
  onTestFinished(() => agent.dispose())
  const content = async () => (await agent.run('go')).toolCalls.map(({ result }) => result.content)
  return { agent, log, clock, content }
}

const decided = (session: Session<{}>, data: unknown) =>
  Object.fromEntries(session.pending.map(({ callId }) => [callId, { approve: true as const, data }]))

describe('The revision of a server', () => {
  test.each<[McpRevision | undefined, 'stateless' | 'reject', string]>([
    [undefined, 'stateless', 'modern'],
    [undefined, 'reject', 'modern'],
    ['2026-07-28', 'reject', 'modern'],
    ['2025-11-25', 'stateless', 'legacy'],
  ])('%s at one that takes old clients (%s) is %s', async (revision, legacy, era) => {
    const { url } = await modernServer({ legacy })
    const steps = [{ toolCalls: [call('era'), call('add', { a: 1, b: 2 })] }, 'Done.']
    expect(await agentWith(url, steps, { revision }).content()).toEqual([era, '3'])
  })

  it('is the old one at a server of sdk 1.32, and an error where another one is required', async () => {
    const server = await httpFixture()
    onTestFinished(() => server.stop())
    const steps = [{ toolCalls: [call('files_read')] }, 'Done.']
    expect(await agentWith(server.url, steps).content()).toEqual(['read'])
    await expect(agentWith(server.url, [], { revision: '2026-07-28' }).agent.init()).rejects.toMatchObject({
      code: 'mcp.unreachable',
    })
  })

  test.each([400, 404, 405, 415, 422, 500, 501, 502])(
    'is the old one if the question for it fails with %s',
    async (status) => {
      const { url } = await rawServer(({ method }, response) => {
        if (method !== 'server/discover') return undefined
        response.writeHead(status).end('Internal Server Error')
        return true
      })
      expect(await agentWith(url, [{ toolCalls: [call('read')] }, 'Done.']).content()).toEqual(['read'])
      await expect(agentWith(url, [], { revision: '2026-07-28' }).agent.init()).rejects.toMatchObject({
        code: 'mcp.unreachable',
      })
    },
  )
})

describe('A question of a server of 2026-07-28', () => {
  it('is answered in another process, which goes on where the server was', async () => {
    const { url, notes } = await modernServer()
    const first = agentWith(url, [{ toolCalls: [call('book', { to: 'Oslo' })] }]).agent.session()
    expect((await first.run('Book')).status).toBe('suspended')
    expect(first.pending[0]?.request).toMatchObject({ reason: 'The MCP server "srv" asks: How many?' })
    let stored = JSON.parse(JSON.stringify(first.snapshot()))
    for (const count of [2, 3]) {
      const session = agentWith(url, ['Booked.']).agent.session()
      session.restore(stored)
      const { toolCalls } = await session.resume(decided(session, { seats: count }))
      stored = JSON.parse(JSON.stringify(session.snapshot()))
      if (count === 3) expect(toolCalls[0]?.result.content).toBe('Oslo: 3 back')
    }
    expect(notes).toEqual([
      'book Oslo undefined undefined',
      'book Oslo there {"seats":2}',
      'book Oslo back {"seats":3}',
    ])
  })

  it('is asked again for answers that do not fit, and the server hears nothing', async () => {
    const { url, notes } = await modernServer()
    const session = agentWith(url, [{ toolCalls: [call('book', { to: 'Oslo' })] }]).agent.session()
    await session.run('Book')
    for (const wrong of ['two', { seats: 0 }, {}]) await session.resume(decided(session, wrong))
    expect(session.pending[0]?.request?.problem).toContain('seats')
    expect(notes).toHaveLength(1)
  })

  it('ends when the server needs input without end, and asks nobody for it', async () => {
    const { url } = await endless()
    const { content } = agentWith(url, [{ toolCalls: [call('read')] }, 'Done.'])
    expect(await content()).toEqual(['The MCP server "srv" needs input more than 20 times.'])
  })
})

/** A server of 2026-07-28 that always needs more. */
async function endless() {
  return rawModern(({ id }) => ({ id, result: { resultType: 'input_required', requestState: 'more' } }))
}

interface Rpc {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly taskId?: string; readonly inputResponses?: object }
}

/** A server by hand, with one tool. */
function rawModern(answer: (request: Rpc) => object) {
  const tool = { name: 'read', description: 'Reads', inputSchema: { type: 'object' } }
  const cache = { ttlMs: 0, cacheScope: 'private' }
  const extensions = { 'io.modelcontextprotocol/tasks': {} }
  return rawServer((request, response) => {
    const { id, method } = request as Rpc
    const reply = (result: object) => json(response, { jsonrpc: '2.0', id, result })
    if (method === 'server/discover')
      reply({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, extensions },
        ...cache,
      })
    else if (method === 'tools/list') reply({ resultType: 'complete', tools: [tool], ...cache })
    else json(response, { jsonrpc: '2.0', ...answer(request as Rpc) })
    return true
  })
}

describe('A task', () => {
  const task = { taskId: 't1', status: 'working', ttlMs: null, pollIntervalMs: 5_000 }
  const form = { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } }

  it('that a server makes of a call is polled, gets its answers, and gives its result', async () => {
    const asked: string[] = []
    const { url } = await rawModern(({ id, method, params }) => {
      asked.push(method)
      const inputRequests = { q: { method: 'elicitation/create', params: form } }
      const [status, rest] = asked.includes('tasks/update')
        ? ['completed', { result: { content: [{ type: 'text', text: 'done' }] } }]
        : ['input_required', { inputRequests }]
      if (method === 'tools/call') return { id, result: { resultType: 'task', ...task } }
      if (method === 'tasks/update')
        expect(params?.inputResponses).toEqual({ q: { action: 'accept', content: { ok: true } } })
      return { id, result: { resultType: 'complete', ...(method === 'tasks/get' && { ...task, status, ...rest }) } }
    })
    const { agent, clock } = agentWith(url, [{ toolCalls: [call('read')] }, 'Done.'])
    const session = agent.session()
    const first = session.run('go')
    await vi.waitFor(() => expect(asked).toContain('tools/call'), 15_000)
    await until(clock, first)
    expect(session.pending[0]?.request?.reason).toContain('Sure?')
    const { toolCalls } = await until(clock, session.resume(decided(session, { ok: true })))
    expect(toolCalls[0]?.result.content).toBe('done')
    expect(asked).toEqual(['tools/call', 'tasks/get', 'tasks/update', 'tasks/get'])
  })

  it('that fails or is cancelled fails its call with the reason of the server', async () => {
    for (const [end, message] of [
      [{ status: 'failed', error: { code: -32_603, message: 'The disk is full.' } }, 'The disk is full.'],
      [{ status: 'cancelled' }, 'The task was cancelled.'],
    ] as const) {
      const { url } = await rawModern(({ id }) => ({ id, result: { resultType: 'task', ...task, ...end } }))
      const { content } = agentWith(url, [{ toolCalls: [call('read')] }, 'Done.'])
      expect(await content()).toEqual([`The MCP server "srv" refused the call: ${message}`])
    }
  })

  it('of 2025-11-25 is what a tool runs as that requires it', async () => {
    const asked: unknown[] = []
    const execution = { taskSupport: 'required' }
    const tool = { name: 'read', description: 'Reads', inputSchema: { type: 'object' }, execution }
    const { url } = await rawServer((request, response) => {
      const { id, method, params } = request as Rpc
      const reply = (result: object) => json(response, { jsonrpc: '2.0', id, result }) ?? true
      if (method === 'server/discover')
        return json(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: '?' } }) ?? true
      if (method === 'tools/list') return reply({ tools: [tool] })
      if (id === undefined || method === 'initialize') return undefined
      asked.push([method, params])
      const times = { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z', ttl: null }
      const now = { taskId: 't1', ...times, pollInterval: 5_000 }
      if (method === 'tools/call') return reply({ task: { ...now, status: 'working' } })
      if (method === 'tasks/get') return reply({ ...now, status: 'completed' })
      return reply({ content: [{ type: 'text', text: 'done' }] })
    })
    const { agent, clock } = agentWith(url, [{ toolCalls: [call('read')] }, 'Done.'])
    const { toolCalls } = await until(clock, agent.run('go'))
    expect(toolCalls[0]?.result.content).toBe('done')
    expect(asked).toMatchObject([
      ['tools/call', { task: {} }],
      ['tasks/get', { taskId: 't1' }],
      ['tasks/result', {}],
    ])
  })
})

/** Lets time pass until a run has ended. */
async function until<T>(clock: { advance(ms: number): Promise<unknown> }, run: PromiseLike<T>): Promise<T> {
  let isOver = false
  void run.then(() => (isOver = true))
  await vi.waitFor(async () => {
    await clock.advance(5_000)
    expect(isOver).toBe(true)
  }, 15_000)
  return run
}

describe('The list of tools of 2026-07-28', () => {
  it('is listed again when the server announces a change', async () => {
    const { url, shelf, notify } = await modernServer()
    const { agent, log } = agentWith(url, [])
    await agent.init()
    shelf.hasMore = true
    await vi.waitFor(() => {
      notify.toolsChanged()
      expect(log.join()).toContain('"extra"')
    }, 15_000)
  })

  it('holds for as long as the server says, and is listed again at the first call after that', async () => {
    const { url, listed } = await modernServer({ ttlMs: 60_000 })
    const steps = Array.from({ length: 2 }, () => [{ toolCalls: [call('era')] }, 'Done.']).flat()
    const { agent, clock } = agentWith(url, steps)
    await agent.run('go')
    expect(listed()).toBe(1)
    await clock.advance(60_000)
    await agent.run('go')
    await vi.waitFor(() => expect(listed()).toBe(2), 15_000)
  })
})

test('A call tells the server the active trace, and no baggage', async () => {
  const { url, requests } = await modernServer()
  const { agent } = agentWith(url, [{ toolCalls: [call('era')] }, 'Done.'])
  const span = new BasicTracerProvider().getTracer('test').startSpan('test')
  const active = trace.setSpan(context.active(), span)
  context.setGlobalContextManager({
    active: () => active,
    with: (_context, fn, self, ...args) => fn.apply(self as never, args),
    bind: (_context, target) => target,
    enable: () => context as never,
    disable: () => context as never,
  })
  onTestFinished(() => context.disable())
  await agent.run('go')
  const { traceId, spanId } = span.spanContext()
  const sent = requests.map(({ body }) => body).find((body) => body.includes('"tools/call"'))
  expect(JSON.parse(sent ?? '').params._meta).toMatchObject({ traceparent: `00-${traceId}-${spanId}-01` })
})
