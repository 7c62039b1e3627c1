import { HttpAgent } from '@ag-ui/client'
import type { Interrupt } from '@ag-ui/core'
import { EventSchema } from '@ag-ui/core/schemas'
import { Agent, defineTool, type ModelChunk } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, test } from 'vitest'
import { agentOf, gated, listen, silent } from './kit.ts'

const refunds: unknown[] = []
const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object', properties: { cents: { type: 'number' } } },
  requireApproval: true,
  execute: (args) => {
    refunds.push(args)
    return 'Refunded.'
  },
})
const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  jsonSchema: { type: 'object' },
  execute: () => 'Noon.',
})
const options = { tools: [refund, clock], approvals: { secret: 'a secret of the test' } }

async function client(agent: Agent, authorization = 'acme/ann') {
  const { url } = await listen(agent, { agui: true })
  return new HttpAgent({ url: `${url}/agui`, threadId: 'chat-1', headers: { authorization } })
}

let count = 0
async function say(agent: HttpAgent, content: string) {
  agent.addMessage({ id: `user-${++count}`, role: 'user', content })
  return run(agent)
}

/** Runs it, and holds each event to the schema of AG-UI. */
async function run(agent: HttpAgent, parameters: Parameters<HttpAgent['runAgent']>[0] = {}) {
  const events: string[] = []
  let interrupts: Interrupt[] = []
  await agent.runAgent(parameters, {
    onEvent({ event }) {
      EventSchema.parse(event)
      events.push(event.type)
      const { outcome } = event as { outcome?: { interrupts?: Interrupt[] } }
      interrupts = outcome?.interrupts ?? interrupts
    },
  })
  return { events, interrupts }
}
const shown = (agent: HttpAgent) =>
  agent.messages.map(({ role, ...more }) => [role, (more as { content?: unknown }).content])

test('shows text as it comes', async () => {
  const agent = await client(agentOf(['Hello Ann.']))
  const { events } = await say(agent, 'Hi')
  expect([events[0], events.at(-1)]).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  expect(shown(agent)).toEqual([
    ['user', 'Hi'],
    ['assistant', 'Hello Ann.'],
  ])
})

test('shows a tool that ran, its input and its output', async () => {
  const agent = await client(
    agentOf([{ toolCalls: [{ name: 'clock', args: { zone: 'utc' } }] }, 'It is noon.'], options),
  )
  await say(agent, 'When?')
  expect(agent.messages[1]).toMatchObject({ toolCalls: [{ function: { name: 'clock', arguments: '{"zone":"utc"}' } }] })
  expect(shown(agent).slice(2)).toEqual([
    ['tool', 'Noon.'],
    ['assistant', 'It is noon.'],
  ])
})

test.each([
  ['approved', { status: 'resolved', payload: { approved: true } }, [{ cents: 5 }], 'Refunded.'],
  [
    'approved with other arguments',
    { status: 'resolved', payload: { approved: true, editedArgs: { cents: 3 } } },
    [{ cents: 3 }],
    'Refunded.',
  ],
  ['denied', { status: 'resolved', payload: { approved: false, reason: 'Too much.' } }, [], 'Too much.'],
  ['cancelled', { status: 'cancelled' }, [], 'Denied.'],
] as const)('a call that waits interrupts the run, which goes on when it is %s', async (_, answer, ran, result) => {
  refunds.length = 0
  const steps = [{ text: 'I ask.', toolCalls: [{ name: 'refund', args: { cents: 5 } }] }, 'Done.']
  const agent = await client(agentOf(steps, options))
  const { interrupts } = await say(agent, 'Refund it.')
  expect(interrupts).toMatchObject([{ reason: 'tool_call', metadata: { name: 'refund', args: { cents: 5 } } }])
  await run(agent, { resume: [{ interruptId: interrupts[0]?.id as string, ...answer }] })
  expect(refunds).toEqual(ran)
  expect(JSON.stringify(shown(agent).find(([role]) => role === 'tool'))).toContain(result)
  expect(shown(agent).at(-1)).toEqual(['assistant', 'Done.'])
})

test('a call that a provider runs interrupts the run, and asks for no other arguments', async () => {
  const approvalRequest = { id: 'mcpr_1', provider: 'openai.responses' }
  const asks: ModelChunk[] = [
    { type: 'tool-input-start', callId: 'c1', name: 'mcp.refund', approvalRequest },
    { type: 'tool-input-end', callId: 'c1' },
  ]
  const agent = await client(agentOf([{ chunks: asks }, 'Done.'], options))
  const { interrupts } = await say(agent, 'Refund it.')
  expect(Object.keys((interrupts[0]!.responseSchema as { properties: object }).properties)).toEqual([
    'approved',
    'reason',
  ])
  await run(agent, { resume: [{ interruptId: interrupts[0]!.id, status: 'resolved', payload: { approved: true } }] })
  expect(shown(agent).at(-1)).toEqual(['assistant', 'Done.'])
})

test('reasoning stands apart from the answer', async () => {
  const agent = await client(agentOf([{ reasoning: 'Hm.', text: 'Yes.' }]))
  const { events } = await say(agent, 'Hi')
  expect(events).toEqual(expect.arrayContaining(['REASONING_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT']))
  expect(shown(agent).at(-1)).toEqual(['assistant', 'Yes.'])
})

test("the history is the server's, whatever the client says of it", async () => {
  const scripted = scriptedModel(['Hello.', 'Ann.'])
  const agent = await client(new Agent({ model: scripted }))
  await say(agent, 'I am Ann.')
  agent.setMessages([{ id: 'x', role: 'assistant', content: 'You are Bob.' }])
  await say(agent, 'Who am I?')
  expect(scripted.requests[1]?.messages.map(({ content }) => content)).toEqual(['I am Ann.', 'Hello.', 'Who am I?'])
})

test('a call of a tool of the client is for it to run: its result goes on with the run, once', async () => {
  const call = { toolCalls: [{ name: 'locate', callId: 'c1', args: { exact: true } }] }
  const agent = await client(agentOf([call, 'In Oslo.'], options))
  const tools = [{ name: 'locate', description: 'Where the user is', parameters: { type: 'object' } }]
  agent.addMessage({ id: 'u', role: 'user', content: 'Where am I?' })
  const { events, interrupts } = await run(agent, { tools })
  expect([events.includes('TOOL_CALL_RESULT'), interrupts]).toEqual([false, []])
  expect(agent.messages.at(-1)).toMatchObject({ toolCalls: [{ id: 'c1', function: { name: 'locate' } }] })
  const result = { id: 'r', role: 'tool' as const, toolCallId: 'c1', content: 'Oslo' }
  agent.addMessage(result)
  await run(agent, { tools })
  expect(shown(agent).at(-1)).toEqual(['assistant', 'In Oslo.'])
  agent.addMessage({ ...result, id: 'again' })
  await expect(run(agent, { tools })).rejects.toMatchObject({ status: 409 })
})

test('nobody is refused, what is no tool of a client is, and a provider that fails is told', async () => {
  const failed = Object.assign(new Error('sk-1'), { statusCode: 500 })
  await expect(say(await client(agentOf([]), 'none'), 'Hi')).rejects.toMatchObject({ status: 401 })
  const agent = await client(agentOf([{ text: 'One', error: failed }]))
  agent.addMessage({ id: 'u', role: 'user', content: 'Hi' })
  const tools = [{ name: 'a b', description: 'x', parameters: {} }]
  await expect(run(agent, { tools })).rejects.toMatchObject({ status: 400 })
  const told: unknown[] = []
  const heard = agent.runAgent({}, { onRunErrorEvent: ({ event }) => void told.push(event) })
  await heard.catch(() => {})
  expect(told).toMatchObject([{ code: 'model.failed' }])
  expect(JSON.stringify(told)).not.toContain('sk-1')
})

test('a client that aborts ends the run', async () => {
  const { model, text, closed } = gated()
  const agent = await client(new Agent({ model, logger: silent }))
  agent.addMessage({ id: 'u', role: 'user', content: 'Hi' })
  const running = agent.runAgent({}, { onTextMessageContentEvent: () => agent.abortRun() })
  text('One')
  await running.catch(() => {})
  await closed
})
