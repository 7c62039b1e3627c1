import { Agent, type AgentOptions, defineMiddleware, delegate, type Model, type Tool } from 'allium'
import * as memory from 'allium/memory'
import * as observe from 'allium/observe'
import { scriptedModel } from 'allium/testing'
import { describe, expect, it } from 'vitest'
import { server } from '../src/index.ts'
import {
  type FileView,
  type InspectRecord,
  inspector,
  type SessionUsageView,
  type StoredTurnView,
} from '../src/inspect.ts'

const brief = defineMiddleware({
  name: 'brief',
  state: { 'brief:calls': { default: 0, reducer: (count, more: number) => count + more } },
  async model(ctx, next) {
    ctx.state['brief:calls'] = 1
    ctx.addSystemMessage('Be brief.')
    return next()
  },
})
const redacting = defineMiddleware({ name: 'redacting', order: { is: ['redacts'] }, turn: (_, next) => next() })

/** Serves an agent. The header `who` has the user, the tenant and the access of a request. */
function serve(use: object[] = [], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(['Hello.', 'Hello.', 'Hello.'], { id: 'openai/gpt-5-mini' })
  const agent = new Agent({ model, instructions: 'You help.', ...options }).use([...use, brief] as never)
  const app = server(agent, {
    principal({ headers }) {
      const [userId, tenantId, access] = headers.get('who')?.split(' ') ?? []
      return { userId, tenantId, access }
    },
    inspect: inspector({
      access: (principal) => (principal as { access?: 'own' }).access,
      state: 'all',
      prices: { 'openai/*': { input: 1, output: 1 } },
    }),
  })
  const get = (path: string, who = 'ann acme own') => app.fetch(new Request(`http://x${path}`, { headers: { who } }))
  const run = (input: unknown, who = 'ann acme own') =>
    app.fetch(
      new Request('http://x/sessions/s/runs', {
        method: 'POST',
        headers: { who, 'content-type': 'application/json' },
        body: JSON.stringify({ input }),
      }),
    )
  return { app, get, run }
}

/** Reads the feed until the server has drained. */
async function feedOf({ app, get }: ReturnType<typeof serve>, who?: string, after = ''): Promise<InspectRecord[]> {
  const response = await get(`/inspect/feed?after=${after}`, who)
  await app.drain()
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  return lines.flatMap((line) => JSON.parse(line.slice(6)) as InspectRecord[])
}

/** Returns the first record of the feed for which the condition holds. */
async function firstRecord(
  { get }: ReturnType<typeof serve>,
  condition: (record: InspectRecord) => boolean,
): Promise<InspectRecord | undefined> {
  const { body } = await get('/inspect/feed')
  let text = ''
  for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += piece
    const lines = text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('data: '))
    const found = lines.flatMap((line) => JSON.parse(line.slice(6)) as InspectRecord[]).find(condition)
    if (found !== undefined) return found
  }
  return undefined
}

const ofType = <T extends InspectRecord['type']>(records: InspectRecord[], type: T) =>
  records.filter((record): record is Extract<InspectRecord, { type: T }> => record.type === type)

describe('inspector()', () => {
  it('records the request and the answer of a model as they were sent', async () => {
    const served = serve()
    await served.run('Hi')
    const records = await feedOf(served)
    const [request] = ofType(records, 'request')
    expect(request?.messages.map(({ content }) => content)).toEqual(['You help.', 'Be brief.', 'Hi'])
    expect(ofType(records, 'response')[0]?.text).toBe('Hello.')
    expect(ofType(records, 'cost')[0]?.usd).toBeGreaterThan(0)
  })

  it('records the decision, the change and the state write of a layer', async () => {
    const served = serve()
    await served.run('Hi')
    const records = await feedOf(served)
    const span = ofType(records, 'open').find(({ layer, scope }) => layer === 'brief' && scope === 'model')
    expect(ofType(records, 'close').find(({ id }) => id === span?.id)?.decision).toBe('changed')
    expect(ofType(records, 'change')[0]).toMatchObject({ id: span?.id, field: 'messages', at: 1, before: [] })
    expect(ofType(records, 'state')[0]).toMatchObject({ id: span?.id, key: 'brief:calls', value: 1 })
    expect(ofType(records, 'state')[0]?.reducer).toBe('(count, more) => count + more')
  })

  it('sends only the new part of a conversation with the next request', async () => {
    const tool = { name: 'look', description: 'Looks', jsonSchema: { type: 'object' }, execute: () => 'a lamp' }
    const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'A lamp.'])
    const served = serve([], { model, tools: [tool] })
    await served.run('Hi')
    const [, second] = ofType(await feedOf(served), 'request')
    expect([second?.keep, second?.messages.map(({ role }) => role), second?.tools]).toEqual([
      3,
      ['assistant', 'tool'],
      undefined,
    ])
  })

  it('records the layers that a sub-agent inherits, for those who may see the turn of its parent', async () => {
    const inherited = defineMiddleware({ name: 'inherited', inherit: true, model: (_, next) => next() })
    const helper = new Agent({ name: 'helper', model: scriptedModel(['Helped.'], { id: 'openai/gpt-5-nano' }) })
    const help: Tool = {
      name: 'help',
      description: 'Helps',
      jsonSchema: { type: 'object' },
      execute: async (_, ctx) => (await delegate(ctx, helper, 'Help'))?.text,
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'help' }] }, 'Done.'])
    const served = serve([inherited], { model, tools: [help] })
    await served.run('Hi')
    const turns = ofType(await feedOf(served), 'turn')
    expect(turns.map(({ agent, rootTurnId }) => [agent, rootTurnId])).toEqual([
      ['agent', undefined],
      ['helper', turns[0]?.turnId],
    ])
  })

  it('leaves out the contents of changes if a layer redacts', async () => {
    const served = serve([redacting])
    await served.run('Hi')
    const records = await feedOf(served)
    expect(ofType(records, 'change')).toEqual([])
    expect(ofType(records, 'close').some(({ changed }) => changed?.[0]?.note === '2 → 3')).toBe(true)
  })

  it('hides credentials', async () => {
    const served = serve()
    await served.run('My key is sk-ant-api03-8fKq2LmZx0VtR7nWcY4hJd1sGbP9eUaQ')
    expect(JSON.stringify(await feedOf(served))).not.toContain('sk-ant')
    expect(await (await served.get('/inspect/sessions/s/turns')).text()).not.toContain('sk-ant')
  })

  it.each([
    ['own', 'bob acme own', ['s of bob']],
    ['tenant', 'bob acme tenant', ['s of ann', 's of bob']],
    ['all', 'bob acme all', ['s of ann', 's of bob', 's of eve']],
  ])('shows the turns that the access "%s" allows', async (_, who, expected) => {
    const served = serve()
    await served.run('Hi', 'ann acme own')
    await served.run('Hi', 'bob acme own')
    await served.run('Hi', 'eve other own')
    const records = await feedOf(served, who)
    expect(ofType(records, 'turn').map(({ sessionId, owner }) => `${sessionId} of ${owner}`)).toEqual(expected)
  })

  it('does not exist for principals without access', async () => {
    const { get } = serve()
    for (const path of [
      '/inspect',
      '/inspect/usage',
      '/inspect/feed',
      '/inspect/sessions',
      '/inspect/sessions/s/turns',
    ])
      expect((await get(path, 'ann acme')).status).toBe(404)
  })

  it('lists the turns of another owner only with access to the tenant', async () => {
    const { get, run } = serve()
    await run('Hi')
    const path = '/inspect/sessions/s/turns?owner=ann'
    expect((await get(path, 'bob acme own')).status).toBe(404)
    const { turns } = (await (await get(path, 'bob acme tenant')).json()) as { turns: StoredTurnView[] }
    expect(turns.map(({ status, messages }) => [status, messages.length])).toEqual([['completed', 2]])
  })

  it('continues the feed after the last event that the client has', async () => {
    const served = serve()
    await served.run('Hi')
    const response = await served.get('/inspect/feed')
    await served.app.drain()
    const last = (await response.text())
      .match(/^id: .*/gm)
      ?.at(-1)
      ?.slice(4)
    expect(await feedOf(served, undefined, last)).toEqual([])
    expect((await feedOf(served, undefined, 'another-process.3')).length).toBeGreaterThan(0)
  })

  it('shows the layers of the agent and the findings of its check', async () => {
    const { get } = serve([memory.plan()])
    const { agent, layers, findings } = (await (await get('/inspect')).json()) as Record<string, { name: string }[]>
    expect([agent, layers?.map(({ name }) => name).slice(0, 2), findings]).toEqual([
      'agent',
      ['memory:plan', 'brief'],
      [],
    ])
  })

  it('shows files as sent by their size and hash, and serves their bytes', async () => {
    const served = serve()
    const data = Buffer.alloc(30_000, 'an image ').toString('base64')
    await served.run([{ type: 'image', data, mediaType: 'image/png' }])
    const { turns } = (await (await served.get('/inspect/sessions/s/turns')).json()) as { turns: StoredTurnView[] }
    const [stored] = (turns[0]?.messages[0]?.content ?? []) as unknown as FileView[]
    expect(stored).toMatchObject({ type: 'image', mediaType: 'image/png', bytes: 30_000 })
    const path = `/inspect/sessions/s/files/${stored?.file}`
    const file = await served.get(path)
    expect(Buffer.from(await file.arrayBuffer()).toString('base64')).toBe(data)
    expect(file.headers.get('content-disposition')).toBe('attachment')
    expect((await served.get(`${path}?owner=ann`, 'bob acme own')).status).toBe(404)
    expect((await served.get(`${path}?owner=ann`, 'bob acme tenant')).status).toBe(200)
    const [request] = ofType(await feedOf(served), 'request')
    expect(request?.messages.at(-1)?.content).toEqual([stored])
  })

  it('shows a file that a model makes while the model still answers, and serves its bytes', async () => {
    const data = Buffer.from('a picture').toString('base64')
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const model: Model = {
      id: 'openai/gpt-5-mini',
      async *stream(request) {
        yield { type: 'file', data, mediaType: 'image/png' }
        await gate
        yield* scriptedModel(['Done.']).stream(request)
      },
    }
    const served = serve([], { model })
    const run = served.run('Draw')
    const made = await firstRecord(served, (record) => record.type === 'event' && record.event.type === 'file')
    expect(made).toMatchObject({ event: { type: 'file', mediaType: 'image/png', bytes: 9 } })
    const path = `/inspect/sessions/s/files/${(made as unknown as { event: FileView }).event.file}`
    expect(await (await served.get(path)).text()).toBe('a picture')
    expect((await served.get(`${path}?owner=ann`, 'bob acme own')).status).toBe(404)
    open()
    expect((await run).status).toBe(200)
  })

  it('records the error that a tool threw, unless a layer redacts', async () => {
    const broken: Tool = {
      name: 'broken',
      description: 'Breaks',
      jsonSchema: { type: 'object' },
      execute: () => {
        throw new Error('The clock is broken: sk-ant-api03-8fKq2LmZx0VtR7nWcY4hJd1sGbP9eUaQ')
      },
    }
    const errorWith = async (...layers: object[]) => {
      const model = scriptedModel([{ toolCalls: [{ name: 'broken' }] }, 'Sorry.'], { id: 'openai/gpt-5-mini' })
      const served = serve(layers, { model, tools: [broken] })
      await served.run('Hi')
      return ofType(await feedOf(served), 'close').find(({ error }) => error !== undefined)?.error
    }
    expect(await errorWith()).toMatch(/^Error: The clock is broken: \[hidden]\n +at /)
    expect(await errorWith(redacting)).toBeUndefined()
  })

  it('lists tokens and cost by session and by turn', async () => {
    const { get, run } = serve([observe.usage({ prices: { 'openai/*': { input: 1, output: 1 } } })])
    await run('Hi')
    await run('Hi')
    const { sessions } = (await (await get('/inspect/usage')).json()) as { sessions: SessionUsageView[] }
    const { turns } = (await (await get('/inspect/sessions/s/turns')).json()) as { turns: StoredTurnView[] }
    const [first, second] = turns.map(({ sessionCost = 0 }) => sessionCost)
    expect(sessions).toMatchObject([{ id: 's', owner: 'ann', runs: 2, cost: second, unpriced: 0 }])
    expect(sessions[0]?.tokens?.calls).toBe(2)
    expect([first, second].map(Number)).toEqual([expect.any(Number), Number(first) * 2])
    expect((await (await get('/inspect/usage', 'bob acme own')).json()) as object).toEqual({ sessions: [] })
  })
})
