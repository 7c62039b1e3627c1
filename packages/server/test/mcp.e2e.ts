import { Agent, defineTool } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import type { ServerOptions } from '../src/index.ts'
import { agentOf, ask, gated, listen, silent } from './kit.ts'
import { type AnyClient, clients, type Elicited } from './mcp/clients.ts'

const refunds: unknown[] = []
const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: (args) => {
    refunds.push(args)
    return 'Refunded.'
  },
})
const refunding = () =>
  agentOf([{ toolCalls: [{ name: 'refund', args: { cents: 5 } }] }, 'Done.'], {
    tools: [refund],
    approvals: { secret: 'a secret of the test' },
  })

const message = (text: string, more: object = {}) => ({ name: 'agent', arguments: { message: text, ...more } })

describe.each(clients)('a client %s', (_, revision, connect) => {
  async function clientOf(agent: Agent | Record<string, Agent>, options: Partial<ServerOptions> = {}, of = {}) {
    const { url } = await listen(agent, { mcp: true, ...options })
    return { url, client: await connect(url, of) }
  }

  test('an agent is a tool, which tells its progress and answers', async () => {
    const clock = defineTool({
      name: 'clock',
      description: 'x',
      jsonSchema: { type: 'object' },
      execute: () => 'Noon.',
    })
    const agent = agentOf([{ toolCalls: [{ name: 'clock' }] }, 'It is noon.'], { tools: [clock] })
    const { client } = await clientOf(agent)
    expect(await client.tools()).toEqual(['agent'])
    const told: unknown[] = []
    const onprogress = ({ message: text }: { message?: string }) => void told.push(text)
    const { content, isError } = await client.call(message('When?'), { onprogress })
    expect([content, isError]).toEqual([[{ type: 'text', text: 'It is noon.' }], undefined])
    expect(told).toEqual(['Step 1', 'Tool clock', 'Step 2'])
  })

  test('a conversation goes on by its session, which is that of who asks', async () => {
    const scripted = scriptedModel(['Hello.', 'Ann.', 'Who?'])
    const { client, url } = await clientOf(new Agent({ model: scripted }))
    const { structuredContent } = await client.call(message('I am Ann.'))
    const { sessionId } = structuredContent as { sessionId: string }
    await client.call(message('Who am I?', { sessionId }))
    expect(scripted.requests[1]?.messages.map(({ content }) => content)).toEqual(['I am Ann.', 'Hello.', 'Who am I?'])
    await (await connect(url, { as: 'acme/bob' })).call(message('Who am I?', { sessionId }))
    expect(scripted.requests[2]?.messages.map(({ content }) => content)).toEqual(['Who am I?'])
  })

  test.each<[string, Elicited['answer'], unknown[]]>([
    ['runs when the person accepts', { action: 'accept', content: { approve: true } }, [{ cents: 5 }]],
    ['does not when they accept and say no', { action: 'accept', content: { approve: false } }, []],
    ['does not when they decline', { action: 'decline' }, []],
    ['does not when they close the question', { action: 'cancel' }, []],
  ])('with elicitation a call that waits %s', async (_, answer, ran) => {
    refunds.length = 0
    const asked: string[] = []
    const { client } = await clientOf(refunding(), { mcp: { elicitation: true } }, { elicits: { answer, asked } })
    const { content } = await client.call(message('Refund it.'))
    expect([refunds, content]).toEqual([ran, [{ type: 'text', text: 'Done.' }]])
    expect(asked).toEqual([expect.stringContaining('refund({"cents":5})')])
  })

  test('where elicitation is not switched on nobody is asked, and the call waits', async () => {
    refunds.length = 0
    const elicits = { answer: { action: 'accept', content: { approve: true } } }
    const { client, url } = await clientOf(refunding(), {}, { elicits })
    const { isError, structuredContent } = await client.call(message('Refund it.'))
    expect([isError, structuredContent]).toMatchObject([true, { status: 'suspended' }])
    expect(refunds).toEqual([])
    const { approvals } = (await (await ask(`${url}/approvals`)).json()) as { approvals: unknown[] }
    expect(approvals).toEqual([expect.objectContaining({ name: 'refund', args: { cents: 5 } })])
  })

  test(`speaks ${revision}, with a session only where that is needed`, async () => {
    const { client } = await clientOf(agentOf([]), { mcp: { elicitation: true } })
    expect([client.revision, client.sessionId !== undefined]).toEqual([revision, revision === '2025-11-25'])
  })

  test('a question of a tool is answered with the form of the tool', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } }
    const travel = defineTool({
      name: 'travel',
      description: 'x',
      jsonSchema: { type: 'object' },
      execute: (_, ctx) =>
        ctx.approval?.data === undefined
          ? ctx.suspend({ question: { message: 'Where to?', schema } })
          : JSON.stringify(ctx.approval.data),
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'travel' }] }, 'Booked.'])
    const elicits = { answer: { action: 'accept', content: { city: 'Rome' } }, asked: [] }
    const { client } = await clientOf(
      agentOf([], { model, tools: [travel] }),
      { mcp: { elicitation: true } },
      { elicits },
    )
    expect((await client.call(message('Book.'))).content).toEqual([{ type: 'text', text: 'Booked.' }])
    expect([elicits.asked, model.requests[1]?.messages.at(-1)]).toMatchObject([
      ['Where to?'],
      { content: [{ content: '{"city":"Rome"}' }] },
    ])
  })

  test('agents that one may not use are no tools', async () => {
    const agents = { a: agentOf(['A.'], { name: 'a' }), b: agentOf([], { name: 'b' }) }
    const { client } = await clientOf(agents, { canUse: (_: unknown, name: string) => name === 'a' })
    expect(await client.tools()).toEqual(['a'])
    await expect(client.call({ name: 'b', arguments: { message: 'Hi' } })).rejects.toMatchObject({ code: -32602 })
  })

  test('a provider that fails is an error of the tool, without its words', async () => {
    const { client } = await clientOf(agentOf([{ error: Object.assign(new Error('sk-1'), { statusCode: 500 }) }]))
    const result = await client.call(message('Hi'))
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'failed', code: 'model.failed' } })
    expect(JSON.stringify(result)).not.toContain('sk-1')
  })

  test.each<[string, boolean, (client: AnyClient, away: AbortController) => unknown]>([
    ['closes its connection', false, (client) => client.close()],
    ['cancels a call', true, (_, away) => away.abort()],
  ])('that %s ends the run', async (_, elicitation, leave) => {
    const { model, text, closed } = gated()
    const { client } = await clientOf(new Agent({ model, logger: silent }), { mcp: { elicitation } })
    const away = new AbortController()
    const onprogress = () => void leave(client, away)
    const called = client.call(message('Hi'), { onprogress, signal: away.signal })
    text('One')
    await expect(called).rejects.toThrow()
    await closed
  })
})

test.each(clients.filter(([, revision]) => revision === '2025-11-25'))(
  "another's session of a client %s is not found, and nobody gets none",
  async (_, __, connect) => {
    const { url } = await listen(agentOf([]), { mcp: { elicitation: true } })
    const { sessionId = '' } = await connect(url)
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const accept = 'application/json, text/event-stream'
    const foreign = await ask(`${url}/mcp`, { as: 'acme/bob', body, headers: { accept, 'mcp-session-id': sessionId } })
    const data = { code: 'session.not_found' }
    expect([foreign.status, await foreign.json()]).toMatchObject([404, { id: 1, error: { data } }])
    expect((await ask(`${url}/mcp`, { as: '', body, headers: { accept } })).status).toBe(401)
  },
)

test('a page of another site is refused, and so is a host that is not served', async () => {
  const { made } = await listen(agentOf([]), { mcp: true })
  const asked = (url: string, headers: object) =>
    made.fetch(new Request(url, { method: 'POST', body: '{}', headers: { authorization: 'acme/ann', ...headers } }))
  expect((await asked('http://127.0.0.1:1/mcp', { origin: 'https://evil.test' })).status).toBe(403)
  expect((await asked('http://evil.test/mcp', {})).status).toBe(421)
})
