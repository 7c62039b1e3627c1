import { type Agent, defineMiddleware, defineTool, type PendingCall } from '@allium/core'
import { usage } from '@allium/observe'
import { describe, expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { server } from '../src/index.ts'
import { agentOf, allOf, ask, asStream, kinds, listen, principal } from './kit.ts'

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

const refunding = (): Agent =>
  agentOf([{ text: 'I ask.', toolCalls: [{ name: 'refund', args: { cents: 5 }, callId: 'c1' }] }, 'Done.'], {
    tools: [refund],
    approvals: { secret: 'a secret of the test' },
  })

async function json<T>(response: Promise<Response>): Promise<T> {
  return (await (await response).json()) as T
}

test('a call that waits is told with its token, approved, and runs once', async () => {
  refunds.length = 0
  const { url } = await listen(refunding())
  const { pending } = await json<{ pending: PendingCall[] }>(
    ask(`${url}/sessions/a/runs`, { body: { input: 'Refund' } }),
  )
  const { approvals } = await json<{ approvals: PendingCall[] }>(ask(`${url}/approvals`))
  expect(approvals).toEqual([{ sessionId: 'a', owner: 'ann', ...pending[0] }])
  const decisions = { c1: { approve: true, token: approvals[0]?.token } }
  const decided = await ask(`${url}/sessions/a/decisions`, { body: { decisions } })
  expect([decided.status, await decided.json()]).toEqual([
    200,
    expect.objectContaining({ text: 'Done.', status: 'completed' }),
  ])
  expect(refunds).toEqual([{ cents: 5 }])
  const again = await ask(`${url}/sessions/a/decisions`, { body: { decisions } })
  expect([again.status, (await json<{ code: string }>(Promise.resolve(again))).code]).toEqual([409, 'approval.used'])
  expect(refunds).toHaveLength(1)
})

test('decisions that are none, name nothing, or have another token, change nothing', async () => {
  const { url } = await listen(refunding())
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Refund' } })
  const decide = async (decisions: unknown, as = 'acme/ann') => {
    const response = await ask(`${url}/sessions/a/decisions`, { body: { decisions }, as })
    return [response.status, (await json<{ code: string }>(Promise.resolve(response))).code]
  }
  expect(await decide({ c1: { approve: true, token: 'another' } })).toEqual([403, 'approval.forged'])
  expect(await decide({ c2: { approve: true } })).toEqual([404, 'approval.unknown'])
  expect(await decide({ c1: { maybe: true } })).toEqual([400, 'approval.invalid'])
  expect(await decide({ c1: { approve: true } }, 'acme/bob')).toEqual([404, 'session.not_found'])
  expect((await json<{ approvals: unknown[] }>(ask(`${url}/approvals`))).approvals).toHaveLength(1)
})

test('the stream that asks for an approval has the token for its owner', async () => {
  const { url } = await listen(refunding())
  const events = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Refund' }, headers: asStream }))
  const { pending } = JSON.parse(events.at(-1)?.data as string)
  expect(pending).toMatchObject([{ callId: 'c1', args: { cents: 5 }, token: expect.any(String) }])
  const replayed = await allOf(await ask(`${url}/sessions/a/events`))
  expect(JSON.parse(replayed.at(-1)?.data as string).pending).toEqual(pending)
})

test('messages show what waits, and then what came of it', async () => {
  const { url } = await listen(refunding())
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Refund' } })
  const shown = async () =>
    (await json<{ messages: { parts: unknown[] }[] }>(ask(`${url}/sessions/a/messages`))).messages.map(
      ({ parts }) => parts,
    )
  const [, waits] = await shown()
  expect(waits).toMatchObject([
    { type: 'step-start' },
    { type: 'text', text: 'I ask.' },
    { type: 'tool-refund', state: 'approval-requested', input: { cents: 5 }, approval: { id: expect.any(String) } },
  ])
  await ask(`${url}/sessions/a/decisions`, { body: { decisions: { c1: { deny: 'Too much.' } } } })
  expect((await shown())[1]?.slice(2)).toMatchObject([
    { type: 'tool-refund', state: 'output-error', errorText: 'Too much.' },
    { type: 'step-start' },
    { type: 'text', text: 'Done.' },
  ])
})

test('sessions are listed page by page, the last changed first, and deleted', async () => {
  const { url } = await listen(agentOf(['1', '2', '3']))
  for (const id of ['a', 'b', 'c']) await ask(`${url}/sessions/${id}/runs`, { body: { input: 'Hi' } })
  type Page = { sessions: { id: string }[]; cursor?: string }
  const first = await json<Page>(ask(`${url}/sessions?limit=2`))
  const rest = await json<Page>(ask(`${url}/sessions?limit=2&cursor=${first.cursor}`))
  expect([...first.sessions, ...rest.sessions].map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
  expect((await ask(`${url}/sessions/a`, { method: 'DELETE' })).status).toBe(204)
  expect((await ask(`${url}/sessions/a`, { method: 'DELETE' })).status).toBe(404)
  expect((await json<Page>(ask(`${url}/sessions`))).sessions).toHaveLength(2)
  expect((await ask(`${url}/sessions?limit=0`)).status).toBe(400)
  expect((await ask(`${url}/sessions?cursor=nonsense`)).status).toBe(400)
})

test('a fork begins with what there was, or with what there was after one run, and goes its own way', async () => {
  const { url } = await listen(agentOf(['One.', 'Two.', 'Fork.']))
  const { turnId } = await json<{ turnId: string }>(ask(`${url}/sessions/a/runs`, { body: { input: '1' } }))
  await ask(`${url}/sessions/a/runs`, { body: { input: '2' } })
  const whole = await json<{ id: string }>(ask(`${url}/sessions/a/fork`, { body: {} }))
  expect((await ask(`${url}/sessions/a/fork`, { body: { id: 'f', at: turnId } })).status).toBe(201)
  expect((await ask(`${url}/sessions/f/runs`, { body: { input: '3' } })).status).toBe(200)
  const texts = async (id: string) => {
    const { messages } = await json<{ messages: { parts: { text?: string }[] }[] }>(
      ask(`${url}/sessions/${id}/messages`),
    )
    return messages.map(({ parts }) => parts.at(-1)?.text)
  }
  expect(await texts(whole.id)).toEqual(['1', 'One.', '2', 'Two.'])
  expect(await texts('f')).toEqual(['1', 'One.', '3', 'Fork.'])
  expect(await texts('a')).toEqual(['1', 'One.', '2', 'Two.'])
})

test('a fork onto a session that is there, from a run that is none, or of a session that is none is refused', async () => {
  const { url } = await listen(agentOf(['One.', 'Two.']))
  for (const id of ['a', 'b']) await ask(`${url}/sessions/${id}/runs`, { body: { input: '1' } })
  const fork = async (id: string, body: object) => (await ask(`${url}/sessions/${id}/fork`, { body })).status
  expect(await fork('a', { id: 'b' })).toBe(409)
  expect(await fork('a', { at: 'none' })).toBe(404)
  expect(await fork('none', {})).toBe(404)
  expect(await fork('a', { id: 7 })).toBe(400)
})

test('the usage of a session is what observe.usage has counted', async () => {
  const { url } = await listen(agentOf(['One.', 'Two.']).use(usage()))
  for (const input of ['1', '2']) await ask(`${url}/sessions/a/runs`, { body: { input } })
  expect(await json(ask(`${url}/sessions/a/usage`))).toMatchObject({
    tokens: { inputTokens: 20, outputTokens: 10, calls: 2 },
  })
})

describe.each(kinds)('the state of a session of runs %s', (_, listen) => {
  const trip = { name: 'trip', state: { trip: { default: new Map<string, Date>() }, token: { default: 'secret' } } }
  const travels = defineMiddleware({
    ...trip,
    async turn(ctx, next) {
      ctx.state.trip = new Map([['Oslo', new Date(0)]])
      ctx.state.token = 'changed'
      await next()
    },
  })
  const agent = () => agentOf(['One.']).use(travels) as Agent

  test('is shown as far as the option says, as it was', async () => {
    const { url } = await listen(agent(), { state: ['trip'] })
    const session = createClient<Agent>({ url, headers: () => ({ authorization: 'acme/ann' }) }).session('a')
    await session.run('Hi')
    expect(await session.state()).toEqual({ trip: new Map([['Oslo', new Date(0)]]) })
  })

  test('is not shown without it, nor to others', async () => {
    const { url } = await listen(agent())
    await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
    expect(await json(ask(`${url}/sessions/a/state`))).toEqual({ state: {} })
    expect((await ask(`${url}/sessions/a/state`, { as: 'acme/bob' })).status).toBe(404)
  })
})

test('a key of the state that no layer has is refused as the server is made', () => {
  expect(() => server(agentOf([]), { principal, state: ['trips'] })).toThrow(/"trips", but no layer/)
})

test('of several agents a principal finds those that they may use, and no others', async () => {
  const agents = { support: agentOf(['I help.'], { name: 'support' }), sales: agentOf(['Buy.'], { name: 'sales' }) }
  const { url } = await listen(agents, { canUse: (_, name) => name === 'support' })
  expect(await json(ask(`${url}/agents`))).toEqual({ agents: ['support'] })
  expect(await json(ask(`${url}/agents/support/sessions/a/runs`, { body: { input: 'Hi' } }))).toMatchObject({
    text: 'I help.',
  })
  for (const path of ['/agents/sales/sessions/a/runs', '/agents/none/sessions/a/runs', '/sessions/a/runs'])
    expect((await ask(`${url}${path}`, { body: { input: 'Hi' } })).status).toBe(404)
})
