import { Agent, defineTool } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import type { ServerOptions } from '../src/index.ts'
import { agentOf, ask, gated, listen, silent } from './kit.ts'

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

interface Elicited {
  answer: { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string | number | boolean> }
  asked?: string[]
}

async function connect(url: string, { as = 'acme/ann', elicits }: { as?: string; elicits?: Elicited } = {}) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: elicits ? { elicitation: {} } : {} })
  if (elicits)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      elicits.asked?.push(params.message)
      return elicits.answer
    })
  const requestInit = { headers: { authorization: as } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }) as never)
  onTestFinished(() => client.close())
  return client
}
async function clientOf(agent: Agent | Record<string, Agent>, options: Partial<ServerOptions> = {}, of = {}) {
  const { url } = await listen(agent, { mcp: true, ...options })
  return { url, client: await connect(url, of) }
}
const message = (text: string, more: object = {}) => ({ name: 'agent', arguments: { message: text, ...more } })

test('an agent is a tool, which tells its progress and answers', async () => {
  const clock = defineTool({ name: 'clock', description: 'x', jsonSchema: { type: 'object' }, execute: () => 'Noon.' })
  const agent = agentOf([{ toolCalls: [{ name: 'clock' }] }, 'It is noon.'], { tools: [clock] })
  const { client } = await clientOf(agent)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['agent'])
  const told: unknown[] = []
  const onprogress = ({ message: text }: { message?: string }) => void told.push(text)
  const { content, isError } = await client.callTool(message('When?'), undefined, { onprogress })
  expect([content, isError]).toEqual([[{ type: 'text', text: 'It is noon.' }], undefined])
  expect(told).toEqual(['Step 1', 'Tool clock', 'Step 2'])
})

test('a conversation goes on by its session, which is that of who asks', async () => {
  const scripted = scriptedModel(['Hello.', 'Ann.', 'Who?'])
  const { client, url } = await clientOf(new Agent({ model: scripted }))
  const { structuredContent } = await client.callTool(message('I am Ann.'))
  const { sessionId } = structuredContent as { sessionId: string }
  await client.callTool(message('Who am I?', { sessionId }))
  expect(scripted.requests[1]?.messages.map(({ content }) => content)).toEqual(['I am Ann.', 'Hello.', 'Who am I?'])
  await (await connect(url, { as: 'acme/bob' })).callTool(message('Who am I?', { sessionId }))
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
  const { content } = await client.callTool(message('Refund it.'))
  expect([refunds, content]).toEqual([ran, [{ type: 'text', text: 'Done.' }]])
  expect(asked).toEqual([expect.stringContaining('refund({"cents":5})')])
})

test('where elicitation is not switched on nobody is asked, and the call waits', async () => {
  refunds.length = 0
  const elicits = { answer: { action: 'accept', content: { approve: true } } }
  const { client, url } = await clientOf(refunding(), {}, { elicits })
  const { isError, structuredContent } = await client.callTool(message('Refund it.'))
  expect([isError, structuredContent]).toMatchObject([true, { status: 'suspended' }])
  expect(refunds).toEqual([])
  const { approvals } = (await (await ask(`${url}/approvals`)).json()) as { approvals: unknown[] }
  expect(approvals).toEqual([expect.objectContaining({ name: 'refund', args: { cents: 5 } })])
})

test("another's session of MCP is not found, nobody gets none, and agents that one may not use are no tools", async () => {
  const agents = { a: agentOf(['A.'], { name: 'a' }), b: agentOf([], { name: 'b' }) }
  const options = { mcp: { elicitation: true }, canUse: (_: unknown, name: string) => name === 'a' }
  const { client, url } = await clientOf(agents, options)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['a'])
  await expect(client.callTool({ name: 'b', arguments: { message: 'Hi' } })).rejects.toMatchObject({ code: -32602 })
  const session = (client.transport as unknown as { sessionId: string }).sessionId
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const accept = 'application/json, text/event-stream'
  const foreign = await ask(`${url}/mcp`, { as: 'acme/bob', body, headers: { accept, 'mcp-session-id': session } })
  expect([foreign.status, await foreign.json()]).toMatchObject([
    404,
    { error: { data: { code: 'session.not_found' } } },
  ])
  expect((await ask(`${url}/mcp`, { as: '', body, headers: { accept } })).status).toBe(401)
})

test('a page of another site is refused, and so is a host that is not served', async () => {
  const { made } = await listen(agentOf([]), { mcp: true })
  const asked = (url: string, headers: object) =>
    made.fetch(new Request(url, { method: 'POST', body: '{}', headers: { authorization: 'acme/ann', ...headers } }))
  expect((await asked('http://127.0.0.1:1/mcp', { origin: 'https://evil.test' })).status).toBe(403)
  expect((await asked('http://evil.test/mcp', {})).status).toBe(421)
})

test('a provider that fails is an error of the tool, without its words', async () => {
  const { client } = await clientOf(agentOf([{ error: Object.assign(new Error('sk-1'), { statusCode: 500 }) }]))
  const result = await client.callTool(message('Hi'))
  expect(result).toMatchObject({ isError: true, structuredContent: { status: 'failed', code: 'model.failed' } })
  expect(JSON.stringify(result)).not.toContain('sk-1')
})

test.each<[string, boolean, (client: Client, away: AbortController) => unknown]>([
  ['closes its connection', false, (client) => client.close()],
  ['cancels a call, where it has a session,', true, (_, away) => away.abort()],
])('a client that %s ends the run', async (_, elicitation, leave) => {
  const { model, text, closed } = gated()
  const { client } = await clientOf(new Agent({ model, logger: silent }), { mcp: { elicitation } })
  const away = new AbortController()
  const onprogress = () => void leave(client, away)
  const called = client.callTool(message('Hi'), undefined, { onprogress, signal: away.signal })
  text('One')
  await expect(called).rejects.toThrow()
  await closed
})
