import { Agent, type AgentOptions, defineTool, type SuspendRequest } from '@allium/core'
import { memoryStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { manualClock } from '@allium/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../src/index.ts'
import { ask, fileOf, kinds, listen, silent } from './kit.ts'
import { answering } from './mcp/answering.ts'
import { type Answer, rpc } from './mcp/rpc.ts'

const elicitation = { capabilities: { elicitation: {} } }
const yes = { action: 'accept', content: { approve: true } }
const refusal = { code: -32602, data: { reason: 'invalid_request_state' } }

interface AgentSetup {
  request?: SuspendRequest
  name?: string
  /** The arguments of its calls, in cents. */
  calls?: number[]
  approvals?: AgentOptions['approvals']
}

/** An agent whose tool needs an approval, or asks the client. Each run of the tool adds to `runs`. */
function agentWith(runs: unknown[], { request, name = 'agent', calls = [5], approvals = {} }: AgentSetup = {}): Agent {
  const refund = defineTool({
    name: 'refund',
    description: 'x',
    jsonSchema: { type: 'object' },
    ...(request === undefined && { requireApproval: true }),
    execute: (args, ctx) => {
      const { approval } = ctx
      if (request !== undefined && approval?.data === undefined) return ctx.suspend(request)
      runs.push(approval?.data ?? args)
      return 'Refunded.'
    },
  })
  const toolCalls = calls.map((cents) => ({ name: 'refund', args: { cents }, callId: `c${cents}` }))
  const model = answering({ toolCalls }, 'Done.')
  return new Agent({
    name,
    version: '1',
    model,
    tools: [refund],
    approvals: { secret: 'of approvals', ...approvals },
    logger: silent,
  })
}

async function served(agents: Agent | Record<string, Agent>, options: Partial<ServerOptions> = {}) {
  const { url } = await listen(agents, { mcp: { elicitation: true }, secret: 'a secret of all servers', ...options })
  return url
}

const call = (more: object = {}, message = 'Refund it.') => ({ name: 'agent', arguments: { message }, ...more })

/** Calls the agent, and returns the questions. */
async function questionsOf(url: string, params: object = call()) {
  const { result, error } = await rpc(url, 'tools/call', params, elicitation)
  expect([error, result?.resultType]).toEqual([undefined, 'input_required'])
  return result as Required<NonNullable<Answer['result']>>
}

describe('a call of an agent that needs an approval', () => {
  it('is approved at another server with the same secret and database', async () => {
    const runs: unknown[] = []
    const file = fileOf()
    const open = () => {
      const store = sqlite(file)
      onTestFinished(() => store.close())
      return store
    }
    const { sessions } = open()
    const { requestState, inputRequests } = await questionsOf(await served(agentWith(runs), { sessions }))
    expect(inputRequests.refund?.params.message).toContain('refund({"cents":5})')
    const other = await served(agentWith(runs), { sessions: open().sessions })
    const { result } = await rpc(
      other,
      'tools/call',
      call({ requestState, inputResponses: { refund: yes } }),
      elicitation,
    )
    expect([runs, result]).toMatchObject([[{ cents: 5 }], { content: [{ text: 'Done.' }], resultType: 'complete' }])
  })

  it.each<[string, unknown]>([
    ['says no', { action: 'accept', content: { approve: false } }],
    ['says something else', { action: 'accept', content: { approve: 'true' } }],
    ['accepts without an answer', { action: 'accept' }],
    ['declines', { action: 'decline' }],
    ['closes the question', { action: 'cancel' }],
  ])('does not run if the person %s', async (_, answer) => {
    const runs: unknown[] = []
    const url = await served(agentWith(runs))
    const { requestState } = await questionsOf(url)
    const { result } = await rpc(
      url,
      'tools/call',
      call({ requestState, inputResponses: { refund: answer } }),
      elicitation,
    )
    expect([runs, result?.structuredContent?.status]).toEqual([[], 'completed'])
  })

  it.each<[string, unknown]>([
    ['no answers', undefined],
    ['null', null],
    ['an answer to another question', { other: yes }],
    ['a number', { refund: 12345 }],
    ['the answer to a request for a model', { refund: { role: 'assistant', content: { type: 'text', text: 'yes' } } }],
  ])('asks again after %s', async (_, inputResponses) => {
    const runs: unknown[] = []
    const url = await served(agentWith(runs))
    const { requestState } = await questionsOf(url)
    const again = await rpc(url, 'tools/call', call({ requestState, inputResponses }), elicitation)
    expect(again.result?.resultType).toBe('input_required')
    const answer = { requestState: again.result?.requestState, inputResponses: { refund: yes } }
    await rpc(url, 'tools/call', call(answer), elicitation)
    expect(runs).toEqual([{ cents: 5 }])
  })

  it('is not approved by an answer that came before the question', async () => {
    const runs: unknown[] = []
    await questionsOf(await served(agentWith(runs)), call({ inputResponses: { refund: yes } }))
    expect(runs).toEqual([])
  })

  it('runs once, however often the client sends its answer', async () => {
    const runs: unknown[] = []
    const url = await served(agentWith(runs))
    const { requestState } = await questionsOf(url)
    const answer = call({ requestState, inputResponses: { refund: yes } })
    await rpc(url, 'tools/call', answer, elicitation)
    const { result } = await rpc(url, 'tools/call', answer, elicitation)
    expect([runs.length, result]).toMatchObject([1, { isError: true, structuredContent: { code: 'approval.used' } }])
  })

  it('does not get the answer to another call of its tool, which was decided elsewhere', async () => {
    const runs: unknown[] = []
    const url = await served(agentWith(runs, { calls: [5, 9] }))
    const asked = { name: 'agent', arguments: { message: 'Refund both.', sessionId: 's' } }
    const { requestState, inputRequests } = await questionsOf(url, asked)
    expect(Object.keys(inputRequests)).toEqual(['refund', 'refund_2'])
    const { approvals } = (await (await ask(`${url}/approvals`)).json()) as { approvals: { token: string }[] }
    const decisions = { c5: { deny: 'No.', token: approvals[0]?.token } }
    const decided = await ask(`${url}/sessions/s/decisions`, { body: { decisions } })
    expect(await decided.json()).toMatchObject({ status: 'suspended' })
    const answer = { ...asked, requestState, inputResponses: { refund: yes } }
    const { result } = await rpc(url, 'tools/call', answer, elicitation)
    expect([runs, result?.inputRequests?.refund?.params.message]).toEqual([[], expect.stringContaining('"cents":9')])
  })

  it('is no question for a caller who may not approve it', async () => {
    const approvals = { canApprove: (principal: unknown) => (principal as { userId: string }).userId === 'bob' }
    const url = await served(agentWith([], { approvals }))
    const { result } = await rpc(url, 'tools/call', call(), elicitation)
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'suspended' } })
  })

  it.each(kinds)('is approved in runs %s', async (_, listenTo) => {
    const runs: unknown[] = []
    const { url } = await listenTo(agentWith(runs), { mcp: { elicitation: true } })
    const { requestState } = await questionsOf(url)
    await rpc(url, 'tools/call', call({ requestState, inputResponses: { refund: yes } }), elicitation)
    expect(runs).toEqual([{ cents: 5 }])
  })

  it('stays pending for the other routes if the client cannot ask', async () => {
    const url = await served(agentWith([]))
    const { result } = await rpc(url, 'tools/call', call())
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'suspended' } })
    expect(await (await ask(`${url}/approvals`)).json()).toMatchObject({ approvals: [{ name: 'refund' }] })
  })
})

describe('a requestState is refused', () => {
  it.each<[string, (state: string) => [params: object, as: string]]>([
    ['of another user', (requestState) => [call({ requestState }), 'acme/bob']],
    ['of another tenant', (requestState) => [call({ requestState }), 'other/ann']],
    ['of another agent', (requestState) => [{ ...call({ requestState }), name: 'b' }, 'acme/ann']],
    ['of another call', (requestState) => [call({ requestState }, 'Refund all.'), 'acme/ann']],
    ['that was changed', (requestState) => [call({ requestState: `${requestState}-` }), 'acme/ann']],
    ['that is none', () => [call({ requestState: '{"sessionId":"s"}' }), 'acme/ann']],
  ])('%s', async (_, changed) => {
    const runs: unknown[] = []
    const url = await served({ agent: agentWith(runs), b: agentWith(runs, { name: 'b' }) })
    const { requestState } = await questionsOf(url)
    const [params, as] = changed(requestState)
    const answer = { ...params, inputResponses: { refund: yes } }
    const { error } = await rpc(url, 'tools/call', answer, { as, ...elicitation })
    expect([error, error?.data?.code, runs]).toMatchObject([refusal, 'approval.forged', []])
  })

  it('after half an hour', async () => {
    const clock = manualClock()
    const url = await served(agentWith([]), { clock })
    const { requestState } = await questionsOf(url)
    clock.advance(30 * 60_000)
    const answer = call({ requestState, inputResponses: { refund: yes } })
    const { error } = await rpc(url, 'tools/call', answer, elicitation)
    expect([error, error?.data?.code]).toMatchObject([refusal, 'approval.expired'])
  })

  it('of a server with another secret, and says nothing of its content', async () => {
    const sessions = memoryStore()
    const { requestState } = await questionsOf(await served(agentWith([]), { sessions }))
    expect(atob(requestState.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain('mcp-')
    const other = await served(agentWith([]), { sessions, secret: 'a secret of its own' })
    const { error } = await rpc(
      other,
      'tools/call',
      call({ requestState, inputResponses: { refund: yes } }),
      elicitation,
    )
    expect(error).toMatchObject(refusal)
  })
})

describe('a tool that asks the client', () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } }
  const question = { message: 'What is your name?', schema }
  const mcp = { method: 'roots/list', params: {} }

  it('sends the form of its question, and gets the answer as data', async () => {
    const runs: unknown[] = []
    const url = await served(agentWith(runs, { request: { question } }))
    const { requestState, inputRequests } = await questionsOf(url)
    const params = { mode: 'form', message: question.message, requestedSchema: schema }
    expect(inputRequests).toEqual({ refund: { method: 'elicitation/create', params } })
    const inputResponses = { refund: { action: 'accept', content: { name: 'Ann' } } }
    await rpc(url, 'tools/call', call({ requestState, inputResponses }), elicitation)
    expect(runs).toEqual([{ name: 'Ann' }])
  })

  it('does not run if the person declines', async () => {
    const runs: unknown[] = []
    const url = await served(agentWith(runs, { request: { question } }))
    const { requestState } = await questionsOf(url)
    const inputResponses = { refund: { action: 'decline' } }
    const { result } = await rpc(url, 'tools/call', call({ requestState, inputResponses }), elicitation)
    expect([runs, result?.content]).toEqual([[], [{ type: 'text', text: 'Done.' }]])
  })

  it('may request the roots of the client, which are its data', async () => {
    const runs: unknown[] = []
    const url = await served(agentWith(runs, { request: { mcp } }))
    const asked = { capabilities: { roots: {} } }
    const { result } = await rpc(url, 'tools/call', call(), asked)
    expect(result?.inputRequests).toEqual({ refund: mcp })
    const roots = [{ uri: 'file:///a', name: 'A' }]
    const answer = call({ requestState: result?.requestState, inputResponses: { refund: { roots } } })
    await rpc(url, 'tools/call', answer, asked)
    expect(runs).toEqual([{ roots }])
  })

  it('is an error with the capability that the client does not have, if no person can answer instead', async () => {
    const { status, id, error } = await rpc(
      await served(agentWith([], { request: { mcp } })),
      'tools/call',
      call(),
      elicitation,
    )
    const data = { requiredCapabilities: { roots: {} } }
    expect([status, id, error]).toMatchObject([400, 7, { code: -32021, data }])
  })
})
