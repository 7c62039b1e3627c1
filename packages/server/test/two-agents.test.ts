import { type Agent, type SessionKey, toJson } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryStore, type SessionStore } from '@allium/store'
import { describe, expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { agentOf, allOf, ask, asStream, gated, listen, principal, silent } from './kit.ts'

const secret = 'a secret of the test'
const paid: string[] = []

function payingAgent(name: string, answers: Parameters<typeof agentOf>[0], rule: boolean): Agent {
  const pay = {
    name: 'pay',
    description: 'Pays',
    jsonSchema: { type: 'object' },
    requireApproval: true,
    execute: () => void paid.push(name),
  }
  const approvals = rule
    ? { secret, canApprove: (who: unknown) => (who as { userId: string }).userId === 'boss' }
    : { secret }
  return agentOf(answers, { name, tools: [pay], approvals })
}

interface World {
  url: string
  sessions: SessionStore
  /** What nobody may find through the other agent. */
  canaries: string[]
  token: string
  turnId: string
  response: string
}
const x: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'strict', sessionId: 'x' }

/** Two agents, one store, one secret. Ann has a session of `strict` in which a payment waits. */
async function world(): Promise<World> {
  const sessions = memoryStore()
  const steps = [
    { text: 'canary-answer', toolCalls: [{ name: 'pay', callId: 'c1', args: { to: 'canary-args' } }] },
    { text: 'canary-answer', toolCalls: [{ name: 'pay', callId: 'c2', args: { to: 'canary-args' } }] },
    'canary-response',
  ]
  const strict = payingAgent('strict', steps, true).use(persist({ store: sessions }))
  const lax = payingAgent('lax', Array(200).fill('Of lax.'), false).use(persist({ store: sessions }))
  const { url } = await listen(
    { strict, lax },
    {
      sessions,
      uiStream: 7,
      openai: true,
      agui: true,
      mcp: true,
      secret,
      state: [],
      canRead: () => true,
      resolvePrincipal: ({ tenant, owner }) => ({ tenantId: tenant, userId: owner }),
      canUse: (who, agent) => agent === 'lax' || (who as { userId: string }).userId === 'ann-of-strict',
    },
  )
  const opened = server({
    agents: { strict },
    principal,
    sessions,
    logger: silent,
    resolvePrincipal: ann,
    openai: true,
  })
  const as = (path: string, body?: object, headers = {}) =>
    opened.fetch(
      new Request(`http://localhost${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: 'acme/ann', 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  await (await as('/sessions/x/runs', { input: 'canary-input' })).text()
  // Nobody names this one: it may turn up in lists alone.
  await (await as('/sessions/canary-other/runs', { input: 'canary-input' })).text()
  const { id: response } = (await (await as('/v1/responses', { model: 'strict', input: 'canary-asked' })).json()) as {
    id: string
  }
  const stored = await sessions.load(x)
  const { token = '' } = stored?.rest.suspension?.calls.c1 ?? {}
  const { turnId = '' } = stored?.rest.suspension ?? {}
  return { url, sessions, token, turnId, response, canaries: ['canary', token] }
}
const ann = () => ({ tenantId: 'acme', userId: 'ann' })

/** Everything that the store has of the agent. */
async function stateOf({ sessions }: World): Promise<string> {
  const { items } = await sessions.list({ tenant: 'acme', agents: ['strict'], limit: 100 })
  const stored = await Promise.all(items.map(({ key }) => sessions.load(key)))
  const calls = await sessions.pendingCalls({ tenant: 'acme', agents: ['strict'], limit: 100 })
  return toJson([items, stored, calls])
}

/** What each route of the document is asked, by its path below the agent. */
function bodiesFor({ token, turnId }: World): Record<string, object[]> {
  const decision = { approve: true, token }
  const said = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
  const answered = {
    role: 'assistant',
    parts: [
      {
        type: 'tool-pay',
        toolCallId: 'c1',
        state: 'approval-responded',
        input: {},
        approval: { id: token, approved: true },
      },
    ],
  }
  return {
    'post /sessions/{id}/runs': [{ input: 'Hi' }],
    'post /sessions/{id}/decisions': [
      { decisions: { c1: decision } },
      { decisions: { c1: { deny: 'no' } } },
      { decisions: { c1: { args: {}, token } } },
      { decisions: { c1: { result: 'canned', token } } },
    ],
    'post /sessions/{id}/stop': [{}],
    'post /sessions/{id}/steer': [{ message: 'Hi' }],
    'post /sessions/{id}/fork': [{}, { at: turnId }, { id: 'fork-of-lax', at: turnId }],
    'post /approvals': [decision, { token, deny: 'no' }],
    'post /chat': [
      { id: 'x', messages: [said] },
      { id: 'x', messages: [said, answered] },
    ],
    'post /chat/{id}/stop': [{}],
    'post /chat/{id}/steer': [{ message: 'Hi' }],
    'post /agui': [
      { threadId: 'x', runId: 'r', messages: [{ id: '1', role: 'user', content: 'Hi' }], tools: [], context: [] },
      {
        ...{ threadId: 'x', runId: 'r', messages: [], tools: [], context: [] },
        resume: [{ interruptId: token, status: 'resolved', payload: { approved: true } }],
      },
      {
        ...{ threadId: 'x', runId: 'r', tools: [], context: [] },
        messages: [{ id: '1', role: 'tool', toolCallId: 'c1', content: 'canned' }],
      },
    ],
  }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly headers?: Record<string, string>
}

/** Every route of the document, through `lax`, and those of other protocols, with all that was learned of the session of `strict`. */
async function attacks(of: World): Promise<Asked[]> {
  const { paths } = (await (await ask(`${of.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, object>>
  }
  const bodies = bodiesFor(of)
  const asked: Asked[] = []
  const used = new Set<string>()
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods)) {
      if (!path.startsWith('/agents/{agent}')) continue
      const below = path.slice('/agents/{agent}'.length)
      const name = `${method} ${below}`
      used.add(name)
      const all = bodies[name] ?? (method === 'post' ? undefined : [undefined])
      if (all === undefined) throw new Error(`The test has no body for ${name}.`)
      for (const query of ['', '?owner=ann'])
        for (const body of all) {
          const at = `/agents/lax${below.replace('{id}', 'x')}${query}`
          asked.push({ method: method.toUpperCase(), path: at, ...(body && { body }) })
        }
    }
  for (const [name, all] of Object.entries(bodies))
    if (!used.has(name))
      for (const body of all)
        asked.push({ method: 'POST', path: `/agents/lax${name.slice(5).replace('{id}', 'x')}`, body })
  asked.push({ method: 'GET', path: '/agents/lax/chat/x/stream' })
  return [...asked.sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE')), ...foreign(of)]
}

/** Protocols that name the agent in the body. */
function foreign({ token, response }: World): Asked[] {
  const messages = [{ role: 'user', content: 'Hi' }]
  const results = [...messages, { role: 'tool', tool_call_id: 'c1', content: 'canned' }]
  const headers = { accept: 'application/json, text/event-stream' }
  const call = { name: 'lax', arguments: { message: 'Hi', sessionId: 'x' } }
  const output = [{ type: 'function_call_output', call_id: 'c1', output: 'canned' }]
  return [
    { method: 'GET', path: '/agents' },
    { method: 'GET', path: '/v1/models' },
    { method: 'GET', path: `/v1/responses/${response}` },
    {
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: 'lax', messages },
      headers: { 'x-session-id': 'x' },
    },
    {
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: 'lax', messages: results },
      headers: { 'x-session-id': 'x' },
    },
    { method: 'POST', path: '/v1/responses', body: { model: 'lax', input: 'Hi', previous_response_id: response } },
    { method: 'POST', path: '/v1/responses', body: { model: 'lax', input: output, previous_response_id: response } },
    { method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }, headers },
    { method: 'GET', path: `/agents/strict/sessions/x/messages?token=${token}` },
    { method: 'GET', path: '/agents/strict/sessions/x/messages' },
  ]
}

describe('the session of an agent, asked for through another one with the same store and secret', () => {
  test.each([
    ['its owner, whom canUse forbids the agent', 'acme/ann'],
    ['another user, who decides the calls of the agent', 'acme/boss'],
    ['another tenant', 'globex/ann'],
  ])(
    'is neither read nor changed by %s',
    async (_, as) => {
      const of = await world()
      const before = await stateOf(of)
      paid.length = 0
      const leaks: unknown[] = []
      for (const { path, ...call } of await attacks(of)) {
        const response = await ask(`${of.url}${path}`, { as, ...call })
        const text = await response.text()
        const found = of.canaries.filter((canary) => text.includes(canary) && !path.includes(canary))
        if (found.length > 0) leaks.push([call.method, path, response.status, found])
        if (response.status >= 500) leaks.push([call.method, path, response.status, text])
        if ((await stateOf(of)) !== before) leaks.push([call.method, path, response.status, 'changed'])
      }
      expect([leaks, paid]).toEqual([[], []])
    },
    60_000,
  )

  test('that goes on is neither followed, steered nor stopped', async () => {
    const sessions = memoryStore()
    const model = gated()
    const strict = agentOf([], { name: 'strict', model: model.model })
    const lax = agentOf(['Of lax.'], { name: 'lax' })
    for (const agent of [strict, lax]) agent.use(persist({ store: sessions }))
    const { url } = await listen({ strict, lax }, { sessions, uiStream: 7, onBusy: 'steer' })
    const body = { input: 'Hi' }
    const whole = await ask(`${url}/agents/strict/sessions/a/runs`, { body, headers: asStream })
    model.text('canary')
    const at = `${url}/agents/lax/sessions/a`
    expect((await ask(`${at}/events`)).status).toBe(204)
    expect((await ask(`${at}/steer`, { body: { message: 'Hi' } })).status).toBe(404)
    expect((await ask(`${at}/stop`, { method: 'POST' })).status).toBe(404)
    expect((await ask(`${url}/agents/lax/chat/a/stream`)).status).toBe(204)
    expect((await ask(at, { method: 'DELETE' })).status).toBe(404)
    expect(await (await ask(`${at}/runs`, { body })).json()).toMatchObject({ status: 'completed', text: 'Of lax.' })
    model.end()
    const events = await allOf(whole)
    expect(events.map(({ event }) => event)).not.toContain('steer:delivered')
    expect(JSON.parse(events.findLast(({ event }) => event === 'turn:end')?.data ?? '{}').status).toBe('completed')
  })
})

test('a run that nobody reads does not make way for the run of another agent under the same session id', async () => {
  const sessions = memoryStore()
  const model = gated()
  const strict = agentOf([], { name: 'strict', model: model.model })
  const lax = agentOf(['Of lax.'], { name: 'lax' })
  for (const agent of [strict, lax]) agent.use(persist({ store: sessions }))
  const { url } = await listen({ strict, lax }, { sessions })
  const reader = new AbortController()
  const body = { input: 'Hi' }
  const at = `${url}/agents/strict/sessions/a`
  const reading = await ask(`${at}/runs`, { body, headers: asStream, signal: reader.signal })
  model.text('canary')
  await reading.body?.getReader().read()
  reader.abort()
  expect(await (await ask(`${url}/agents/lax/sessions/a/runs`, { body })).json()).toMatchObject({ text: 'Of lax.' })
  const events = allOf(await ask(`${at}/events`))
  model.end()
  const end = (await events).findLast(({ event }) => event === 'turn:end')
  expect(JSON.parse(end?.data ?? '{}').status).toBe('completed')
})

describe('a server', () => {
  const make = (agents: Record<string, Agent>) => () => server({ agents, principal })
  const named = (name: string, options = {}) => agentOf([], { name, ...options })

  test('refuses agents whose names it could not tell apart', () => {
    expect(make({ support: named('agent') })).toThrow(/named "agent".*new Agent\(\{ name: 'support' \}\)/)
    expect(make({ a: named('same'), b: named('same') })).toThrow('"same"')
    expect(make({ desk: named('desk'), sales: named('sales', { sessionGroup: 'desk' }) })).toThrow('sessionGroup')
    expect(make({ desk: named('desk'), sales: named('sales', { formerNames: ['desk'] }) })).toThrow('formerNames')
    const group = { sessionGroup: 'desk' }
    expect(make({ desk: named('desk', group), sales: named('sales', group) })).not.toThrow()
  })

  test.each([
    ['a b', 'a_b'],
    ['é', 'ü'],
    [`${'x'.repeat(128)}1`, `${'x'.repeat(128)}2`],
  ])('refuses the agents %j and %j on /mcp, where they have one tool name', (one, other) => {
    const agents = { [one]: named(one), [other]: named(other) }
    const refused = expect(() => server({ agents, principal, mcp: true }))
    refused.toThrow(expect.objectContaining({ code: 'server.options' }))
    refused.toThrow(`The agents "${one}" and "${other}" have the same tool name on /mcp`)
    expect(make(agents)).not.toThrow()
  })

  test('serves the sessions of a renamed agent: it lists, reads, goes on with and deletes them', async () => {
    const sessions = memoryStore()
    const agentNamed = (name: string, more = {}) =>
      agentOf(['Hello.', 'Again.'], { name, ...more }).use(persist({ store: sessions }))
    const before = await listen({ helpdesk: agentNamed('helpdesk') }, { sessions })
    for (const id of ['a', 'b', 'c']) await ask(`${before.url}/sessions/${id}/runs`, { body: { input: 'canary' } })
    const support = agentNamed('support', { formerNames: ['helpdesk'] })
    const { url } = await listen({ support }, { sessions })
    const listed = (await (await ask(`${url}/sessions`)).json()) as { sessions: { id: string }[] }
    expect(listed.sessions.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
    expect(await (await ask(`${url}/sessions/a/messages`)).text()).toContain('canary')
    expect(await (await ask(`${url}/sessions/b/runs`, { body: { input: 'And?' } })).json()).toMatchObject({
      status: 'completed',
    })
    expect((await sessions.load({ ...x, agent: 'support', sessionId: 'b' }))?.version).toBe(2)
    expect((await ask(`${url}/sessions/c`, { method: 'DELETE' })).status).toBe(204)
    expect((await sessions.list({ tenant: 'acme', limit: 9 })).items).toHaveLength(2)
  })

  test('shows agents of one group the history, and each its own calls alone', async () => {
    const sessions = memoryStore()
    const group = { sessionGroup: 'desk' }
    const steps = [{ text: 'I ask.', toolCalls: [{ name: 'pay', callId: 'c1' }] }]
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
    const rule = { secret, canApprove: () => false }
    const strict = agentOf(steps, { name: 'strict', tools: [pay], approvals: rule, ...group })
    const lax = agentOf([], { name: 'lax', tools: [pay], approvals: { secret }, ...group })
    for (const agent of [strict, lax]) agent.use(persist({ store: sessions }))
    const { url } = await listen({ strict, lax }, { sessions })
    await ask(`${url}/agents/strict/sessions/a/runs`, { body: { input: 'Pay' } })
    const { items } = await sessions.pendingCalls({ tenant: 'acme', limit: 9 })
    const { rest } = (await sessions.load(items[0]?.key as SessionKey)) ?? {}
    const { token = '' } = rest?.suspension?.calls.c1 ?? {}
    const messages = await (await ask(`${url}/agents/lax/sessions/a/messages`)).text()
    expect([messages.includes('I ask.'), messages.includes(token)]).toEqual([true, false])
    expect(await (await ask(`${url}/agents/lax/approvals`)).json()).toMatchObject({ approvals: [] })
    const decision = { approve: true, token }
    const decided = await ask(`${url}/agents/lax/sessions/a/decisions`, { body: { decisions: { c1: decision } } })
    expect([decided.status, await decided.json()]).toMatchObject([403, { code: 'approval.forbidden' }])
    expect((await ask(`${url}/agents/lax/approvals`, { body: decision })).status).toBe(404)
  })

  test.each([
    ['a name of its own', 'desk'],
    ['the name of the agent that does not run', 'lax'],
  ])('stops a run only through its agent, where a group has %s; deleting the session stops it too', async (_, name) => {
    const sessions = memoryStore()
    const [one, two] = [gated(), gated()]
    const models = [one.model, two.model]
    const model = { ...one.model, stream: (request: never) => models.shift()?.stream(request) } as typeof one.model
    const strict = agentOf([], { name: 'strict', model, sessionGroup: name })
    const lax = agentOf([], { name: 'lax', sessionGroup: name })
    for (const agent of [strict, lax]) agent.use(persist({ store: sessions }))
    const { url } = await listen({ strict, lax }, { sessions, uiStream: 7 })
    const stop = (agent: string) => ask(`${url}/agents/${agent}/sessions/a/stop`, { method: 'POST' })
    const begin = () => ask(`${url}/agents/strict/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    const first = await begin()
    one.text('canary')
    const refused = await stop('lax')
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'run.not_running' }])
    expect((await ask(`${url}/agents/lax/chat/a/stop`, { method: 'POST' })).status).toBe(409)
    expect((await stop('strict')).status).toBe(202)
    await one.closed
    expect((await allOf(first)).at(-1)?.data).toContain('aborted')
    const second = await begin()
    two.text('canary')
    expect((await ask(`${url}/agents/lax/sessions/a`, { method: 'DELETE' })).status).toBe(204)
    await two.closed
    await allOf(second)
  })
})
