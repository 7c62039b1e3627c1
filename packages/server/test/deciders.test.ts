import { type Agent, defineTool } from '@allium/core'
import { beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { agentOf, allOf, ask, asStream, kinds, type Listen, listen } from './kit.ts'

const refunds: unknown[] = []
beforeEach(() => void (refunds.length = 0))
const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object', properties: { cents: { type: 'number' } } },
  requireApproval: true,
  execute: (args, { principal }) => {
    refunds.push([args, (principal as { userId: string }).userId])
    return 'Refunded.'
  },
})
const call = { toolCalls: [{ name: 'refund', callId: 'c1', args: { cents: 5 } }] }
interface Who {
  userId: string
  tenantId: string
}
/** Lena leads both tenants; whoever asked does not decide. */
const canApprove = (who: unknown, _: unknown, { requestedBy }: { requestedBy: { userId?: string } }) =>
  (who as Who).userId === 'lena' && requestedBy.userId !== 'lena'
const resolvePrincipal = ({ tenant, owner }: { tenant: string; owner: string }) =>
  owner === 'gone' ? undefined : { tenantId: tenant, userId: owner }
const options = { tools: [refund], approvals: { secret: 'a secret of the test', canApprove } }

/** A call of Ann's that waits, and its token as Lena sees it. */
async function waiting(listen: Listen, given: Partial<Parameters<Listen>[1]> = { resolvePrincipal }, agent?: Agent) {
  const { url } = await listen(agent ?? agentOf([call, 'Done.', 'Later.'], options), given)
  const run = await ask(`${url}/sessions/a/runs`, { body: { input: 'Refund' }, headers: asStream })
  const events = await allOf(run)
  const [waits] = await list(url, 'acme/lena')
  return { url, events, waits, token: waits?.token ?? '' }
}
async function list(url: string, as: string) {
  const { approvals } = (await (await ask(`${url}/approvals`, { as })).json()) as { approvals: { token?: string }[] }
  return approvals
}
const decide = async (url: string, as: string, body: object) => {
  const response = await ask(`${url}/approvals`, { as, body })
  return [response.status, (await response.json()) as { code?: string }] as const
}
const settled = (url: string) =>
  expect.poll(async () => JSON.stringify(await (await ask(`${url}/sessions/a/messages`)).json())).toContain('Done.')

describe.each(kinds)('deciders of runs %s', (_, listen) => {
  test('whom the rule allows sees the one call, with token and true values, and decides it; it runs as its owner', async () => {
    const { url, waits, token } = await waiting(listen)
    expect(waits).toMatchObject({ sessionId: 'a', owner: 'ann', name: 'refund', args: { cents: 5 } })
    expect(await decide(url, 'acme/lena', { token, approve: true })).toEqual([
      202,
      { callId: 'c1', decision: 'approved' },
    ])
    await settled(url)
    expect(refunds).toEqual([[{ cents: 5 }, 'ann']])
    expect((await ask(`${url}/sessions/a/messages`, { as: 'acme/lena' })).status).toBe(404)
  })

  test('arguments of theirs run instead, and a denial runs nothing', async () => {
    const first = await waiting(listen)
    expect(await decide(first.url, 'acme/lena', { token: first.token, args: { cents: 1 } })).toMatchObject([
      202,
      { decision: 'edited' },
    ])
    await settled(first.url)
    expect(refunds).toEqual([[{ cents: 1 }, 'ann']])
    const second = await waiting(listen)
    expect((await decide(second.url, 'acme/lena', { token: second.token, deny: 'No.' }))[0]).toBe(202)
    await settled(second.url)
    expect(refunds).toHaveLength(1)
  })

  test('an AG-UI client of a user without permission is offered a denial alone, and its approval is 403', async () => {
    const { url } = await listen(agentOf([call, 'Done.'], options), { resolvePrincipal, agui: true })
    const of = { threadId: 'a', runId: 'r' }
    const messages = [{ id: 'm', role: 'user', content: 'Refund' }]
    const told = await (await ask(`${url}/agui`, { body: { ...of, messages } })).text()
    expect(told).toContain('"approved":{"const":false}')
    expect(told).not.toContain('editedArgs')
    const resume = [{ interruptId: 'c1', status: 'resolved', payload: { approved: true } }]
    const refused = await ask(`${url}/agui`, { body: { ...of, messages: [], resume } })
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('approval.forbidden')])
  })

  test('an approval by a user without permission is 403 approval.forbidden, on /chat and on the decisions route', async () => {
    const { url } = await waiting(listen, { resolvePrincipal, uiStream: 7 })
    const approval = { id: 'c1', approved: true }
    const card = { type: 'tool-refund', toolCallId: 'c1', state: 'approval-responded', input: { cents: 5 }, approval }
    const page = await ask(`${url}/chat`, {
      body: { id: 'a', messages: [{ id: 'm', role: 'assistant', parts: [card] }] },
    })
    const route = await ask(`${url}/sessions/a/decisions`, { body: { decisions: { c1: { approve: true } } } })
    for (const answer of [page, route])
      expect([answer.status, await answer.json()]).toEqual([
        403,
        expect.objectContaining({ code: 'approval.forbidden' }),
      ])
    expect(refunds).toEqual([])
  })

  test('others, and other tenants, see nothing, and a token in their hands opens nothing', async () => {
    const { url, token } = await waiting(listen)
    expect(token).not.toBe('')
    for (const as of ['acme/bob', 'globex/lena']) {
      expect(await list(url, as)).toEqual([])
      expect(await decide(url, as, { token, approve: true })).toMatchObject([404, { code: 'approval.unknown' }])
    }
    expect(refunds).toEqual([])
  })

  test('the owner whom the rule does not allow gets no token anywhere, and may deny', async () => {
    const { url, events, token } = await waiting(listen)
    const messages = await (await ask(`${url}/sessions/a/messages`)).text()
    const mine = await list(url, 'acme/ann')
    for (const text of [JSON.stringify(events), messages, JSON.stringify(mine)]) expect(text).not.toContain(token)
    expect(mine).toHaveLength(1)
    const decisions = (decision: object) =>
      ask(`${url}/sessions/a/decisions`, { body: { decisions: { c1: decision } } }).then(({ status }) => status)
    expect(await decisions({ approve: true })).toBe(403)
    expect(await decisions({ deny: 'Never mind.' })).toBe(200)
    expect(refunds).toEqual([])
  })

  test('a lead who owns a call that they may decide has its token in the stream and in the messages', async () => {
    const anybody = agentOf([call], { ...options, approvals: { secret: 'a secret', canApprove: () => true } })
    const { url, events } = await waiting(listen, { resolvePrincipal }, anybody)
    const { pending } = JSON.parse(events.at(-1)?.data as string) as { pending: { token: string }[] }
    const { messages } = (await (await ask(`${url}/sessions/a/messages`)).json()) as { messages: object[] }
    expect(pending[0]?.token).toMatch(/^[\w-]{43}$/)
    expect(JSON.stringify(messages)).toContain(pending[0]?.token)
  })

  test('without resolvePrincipal, with one that throws, and for an owner who is gone, only owners decide', async () => {
    const fails = () => {
      throw new Error('no directory')
    }
    for (const given of [undefined, fails, () => ({ tenantId: 'acme', userId: 'eve' })]) {
      const { url, token } = await waiting(listen, { resolvePrincipal: given })
      expect([token, await list(url, 'acme/lena')]).toEqual(['', []])
    }
  })

  test('of twenty decisions at once one counts, and what comes after is told that it was used', async () => {
    const { url, token } = await waiting(listen)
    const at = Array.from({ length: 20 }, () => decide(url, 'acme/lena', { token, approve: true }))
    const statuses = (await Promise.all(at)).map(([status]) => status)
    expect(statuses.filter((status) => status === 202)).toHaveLength(1)
    for (const status of statuses) expect([202, 404, 409]).toContain(status)
    await settled(url)
    expect(refunds).toHaveLength(1)
    expect(await decide(url, 'acme/lena', { token, approve: true })).toMatchObject([409, { code: 'approval.used' }])
  })

  test('what is no decision, or brings a result, is refused', async () => {
    const { url, token } = await waiting(listen)
    for (const body of [
      {},
      { token },
      { token, approve: false },
      { token, result: 'x' },
      { token, approve: true, by: 'eve' },
    ])
      expect((await decide(url, 'acme/lena', body))[0]).toBe(400)
    expect((await decide(url, 'acme/lena', { token: 'forged', approve: true }))[0]).toBe(404)
    expect(refunds).toEqual([])
  })

  test('the client decides a call of another owner', async () => {
    const { url } = await waiting(listen)
    const client = createClient<Agent>({ url, headers: () => ({ authorization: 'acme/lena' }) })
    const { items } = await client.approvals()
    for (const one of items)
      expect(await client.decide(one, { deny: 'No.' })).toEqual({ callId: 'c1', decision: 'denied' })
    expect(items).toHaveLength(1)
  })
})

test('of several agents a call is shown and decided under the one that runs it', async () => {
  const { url } = await listen(
    {
      support: agentOf([call, 'Done.'], { ...options, name: 'support' }),
      sales: agentOf([], { ...options, name: 'sales' }),
    },
    { resolvePrincipal },
  )
  await ask(`${url}/agents/support/sessions/a/runs`, { body: { input: 'Refund' } })
  expect(await list(`${url}/agents/sales`, 'acme/lena')).toEqual([])
  const [waits] = await list(`${url}/agents/support`, 'acme/lena')
  expect((await decide(`${url}/agents/sales`, 'acme/lena', { token: waits?.token, approve: true }))[0]).toBe(404)
  expect((await decide(`${url}/agents/support`, 'acme/lena', { token: waits?.token, approve: true }))[0]).toBe(202)
})
