import { HttpAgent } from '@ag-ui/client'
import { EventSchema } from '@ag-ui/core/schemas'
import { type Agent, type AgentOptions, defineTool } from '@allium/core'
import { timeout } from '@allium/guard'
import type { ScriptedStep } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { agentOf, ask, kinds, type Listen, listen, listenDurably } from './kit.ts'

const look = defineTool({ name: 'look', description: 'd', jsonSchema: { type: 'object' }, execute: () => 'seen' })
const pay = defineTool({ ...look, name: 'pay', requireApproval: true })
const slow = defineTool({
  ...look,
  name: 'slow',
  execute: (_, ctx) =>
    new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
})

interface EndEvent extends Record<string, unknown> {
  type: string
  code?: string
  outcome?: { type: string }
}

type Server = Awaited<ReturnType<typeof listen>>
type Act = (server: Server) => unknown

interface Case extends Partial<AgentOptions> {
  /** Layers of the agent. */
  add?: (agent: Agent) => unknown
  /** Called once at the first event of this type. */
  at?: string
  act?: Act
}

/** Runs an agent through AG-UI's own client, which throws at an event that may not come next. */
async function run(steps: readonly ScriptedStep[], { add, at, act, ...options }: Case, start: Listen = listen) {
  const agent = agentOf(steps, { tools: [look, slow, pay], gracePeriod: 200, ...options })
  add?.(agent)
  const server = await start(agent, { agui: true })
  const client = new HttpAgent({ url: `${server.url}/agui`, threadId: 'a', headers: { authorization: 'acme/ann' } })
  client.addMessage({ id: '1', role: 'user', content: 'Hi' })
  const open = new Set<string>()
  let end: string | undefined
  let acted = false
  const onEvent = ({ event }: { event: object }) => {
    EventSchema.parse(event)
    const { type, outcome, code, ...fields } = event as EndEvent
    const [, name, edge] = /(.*)_(START|STARTED|END|FINISHED)$/.exec(type) ?? []
    const id = `${name} ${fields.messageId ?? fields.toolCallId ?? fields.stepName ?? ''}`
    if (edge?.startsWith('START')) open.add(id)
    else if (edge !== undefined) open.delete(id)
    end = code ?? outcome?.type
    if (type === at && !acted) {
      acted = true
      // The server may be closed before it answers.
      Promise.resolve(act?.(server)).catch(() => {})
    }
  }
  const broken = await client.runAgent({}, { onEvent }).then(
    () => undefined,
    ({ message }) => (/Cannot send|already/.test(message) ? message : undefined),
  )
  return { broken, end, open: end === 'success' || end === 'cancelled' || end === 'interrupt' ? [...open] : [] }
}

const stop: Act = ({ url }) => ask(`${url}/sessions/a/stop`, { method: 'POST' })
const erase: Act = ({ url }) => ask(`${url}/sessions/a`, { method: 'DELETE' })
const drain: Act = ({ made }) => made.drain({ timeout: 0 })
const half: ScriptedStep = { text: 'Half', stall: true }
const calls = (name: string): ScriptedStep => ({ toolCalls: [{ name }] })
const openCall: ScriptedStep = { chunks: [{ type: 'tool-input-start', callId: 'c', name: 'look' }], stall: true }
const afterModel = (act: 'block' | 'abort') => (agent: Agent) =>
  agent.use('model', async (ctx, next) => {
    await next()
    return act === 'block' ? ctx.block('enough') : ctx.abort('enough')
  })
const inTool = (act: 'block' | 'abort' | 'deny') => (agent: Agent) =>
  agent.use('tool', (ctx) => (act === 'deny' ? ctx.deny('no') : act === 'block' ? ctx.block('no') : ctx.abort('no')))

const cases: Record<string, [steps: ScriptedStep[], end: string, options?: Case]> = {
  'its user stops it in the text': [[half], 'cancelled', { at: 'TEXT_MESSAGE_CONTENT', act: stop }],
  'its user stops it in the reasoning': [
    [{ reasoning: 'Hm', stall: true }],
    'cancelled',
    { at: 'REASONING_MESSAGE_CONTENT', act: stop },
  ],
  'its user stops it in the input of a call': [[openCall], 'cancelled', { at: 'TOOL_CALL_START', act: stop }],
  'its user stops it in a tool': [[calls('slow')], 'cancelled', { at: 'TOOL_CALL_END', act: stop }],
  'a model layer blocks it': [['Some text'], 'stream.reset', { add: afterModel('block') }],
  'a model layer aborts it': [['Some text'], 'cancelled', { add: afterModel('abort') }],
  'a tool layer blocks it': [[calls('look')], 'run.blocked', { add: inTool('block') }],
  'a tool layer aborts it': [[calls('look')], 'cancelled', { add: inTool('abort') }],
  'a tool layer denies a call': [[calls('look'), 'Done.'], 'success', { add: inTool('deny') }],
  'its input is blocked': [['x'], 'run.blocked', { add: (agent) => agent.use('turn', (ctx) => ctx.block('no')) }],
  'the turn is over time': [[half], 'turn.timeout', { add: (agent) => agent.use(timeout({ turn: 100 })) }],
  'the model is over time': [[half], 'model.timeout', { add: (agent) => agent.use(timeout({ model: 100 })) }],
  'it has no steps left': [[calls('look'), calls('look')], 'success', { maxSteps: 1 }],
  'the model fails in the text': [
    [{ text: 'Half', error: Object.assign(new Error('no'), { statusCode: 500 }) }],
    'model.failed',
  ],
  'the stream of the model is cut': [[{ text: 'Half', cut: true }], 'model.truncated'],
  'the answer is truncated': [[{ text: 'Half', finishReason: 'length' }], 'success'],
  'a call waits for approval': [[calls('pay')], 'interrupt'],
}

describe.each(kinds)('runs %s', (_, start) => {
  test.each(Object.entries(cases))(
    "AG-UI's client accepts the end of a run when %s",
    async (_, [steps, end, options = {}]) => {
      expect(await run(steps, options, start)).toEqual({ broken: undefined, end, open: [] })
    },
  )
})

test.each<[string, ScriptedStep[], object, Partial<AgentOptions>]>([
  ['complete', ['Half'], { status: 'completed', finishReason: 'stop' }, {}],
  ['cut at the token limit', [{ text: 'Half', finishReason: 'length' }], { finishReason: 'length' }, {}],
  ['left without steps', [calls('look')], { status: 'stopped', finishReason: 'tool-calls' }, { maxSteps: 1 }],
])("AG-UI's client gets the reason why an answer ended when it is %s", async (_, steps, expected, options) => {
  const { url } = await listen(agentOf(steps, { tools: [look], ...options }), { agui: true })
  const client = new HttpAgent({ url: `${url}/agui`, threadId: 'a', headers: { authorization: 'acme/ann' } })
  client.addMessage({ id: '1', role: 'user', content: 'Hi' })
  expect((await client.runAgent()).result).toMatchObject(expected)
})

test.each<[string, string, Act, string, Listen]>([
  ['its session is deleted', 'a local run', erase, 'store.fenced', listen],
  ['its session is deleted', 'a durable run', erase, 'session.not_found', listenDurably],
  ['the server shuts down', 'a local run', drain, 'cancelled', listen],
  ['the server shuts down', 'a durable run, which continues elsewhere', drain, 'run.interrupted', listenDurably],
])("AG-UI's client accepts the end when %s during %s", async (_, __, act, end, start) => {
  const ended = await run([half], { at: 'TEXT_MESSAGE_CONTENT', act }, start)
  expect(ended).toEqual({ broken: undefined, end, open: [] })
})
