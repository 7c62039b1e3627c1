import type { Agent, PendingCall } from '@allium/core'
import { describe, expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { agentOf, ask, kinds, type Listen, listen } from './kit.ts'

const locate = { name: 'locate', description: 'Where the user is', jsonSchema: { type: 'object' } }
const call = { toolCalls: [{ name: 'locate', callId: 'c1', args: { exact: true } }] }
const agent = () => agentOf([call, 'In Oslo.'], { approvals: { secret: 'a secret of the test' } })

async function handedBack(listen: Listen) {
  const { url } = await listen(agent())
  const run = await ask(`${url}/sessions/a/runs`, { body: { input: 'Where am I?', clientTools: [locate] } })
  const { status, pending } = (await run.json()) as { status: string; pending: PendingCall[] }
  const decide = async (decision: object, as?: string) => {
    const decisions = { c1: { token: pending[0]?.token, ...decision } }
    const response = await ask(`${url}/sessions/a/decisions`, { body: { decisions }, ...(as && { as }) })
    return [response.status, (await response.json()) as { text?: string; code?: string }] as const
  }
  return { url, status, pending, decide }
}

describe.each(kinds)('tools of the client of runs %s', (_, listen) => {
  test("a call of the client's tool is handed back, and its result goes on with the run, once", async () => {
    const { status, pending, decide, url } = await handedBack(listen)
    expect([status, pending]).toMatchObject(['suspended', [{ name: 'locate', client: true, args: { exact: true } }]])
    expect(((await (await ask(`${url}/approvals`)).json()) as { approvals: [] }).approvals).toEqual([])
    expect(await decide({ result: { city: 'Oslo' } })).toMatchObject([200, { text: 'In Oslo.' }])
    expect(await decide({ result: { city: 'Rome' } })).toMatchObject([409, { code: 'approval.used' }])
  })

  test("a result with another's token, of another owner, or for a call that was not handed back is refused", async () => {
    const { url, decide } = await handedBack(listen)
    expect(await decide({ result: 'x', token: 'forged' })).toMatchObject([403, { code: 'approval.forged' }])
    expect(await decide({ result: 'x' }, 'acme/eve')).toMatchObject([404, {}])
    expect(await decide({ approve: true })).toMatchObject([400, { code: 'approval.invalid' }])
    const other = { decisions: { c9: { result: 'x' } } }
    expect((await ask(`${url}/sessions/a/decisions`, { body: other })).status).toBe(404)
    expect(await decide({ result: 'Oslo' })).toMatchObject([200, {}])
  })

  test('a page that was reloaded finds the call that it is to run', async () => {
    const { url } = await handedBack(listen)
    const { messages } = (await (await ask(`${url}/sessions/a/messages`)).json()) as { messages: { parts: object[] }[] }
    expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'tool-locate', state: 'input-available' })
  })

  test('the client runs its tools and gives their results', async () => {
    const { url } = await listen(agent())
    const session = createClient<Agent>({ url, headers: () => ({ authorization: 'acme/ann' }) }).session('a')
    const { pending } = await session.run('Where am I?', { clientTools: [locate] })
    const results = pending.map(({ callId, token = '' }) => [callId, { result: 'Oslo', token }])
    expect((await session.resume(Object.fromEntries(results))).text).toBe('In Oslo.')
  })

  test('what is no list of tools, or names one that the agent has, is refused', async () => {
    const { url } = await listen(agentOf([], { tools: [{ ...locate, execute: () => 'here' }] }))
    const bad = [{}, [{ name: 'x' }], [{ ...locate, name: 'a b' }], [{ ...locate, execute: 'rm' }], [locate]]
    for (const clientTools of bad) {
      const response = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi', clientTools } })
      expect([clientTools, response.status]).toEqual([clientTools, 400])
    }
  })
})

test.each([
  [
    '/sessions/a/runs',
    { input: 'Go', clientTools: [{ name: 'look', description: '', jsonSchema: { type: 'string' } }] },
  ],
  ['/agui', aguiWith({ type: 'array' })],
])('a client tool whose arguments are no object is a 400: %s', async (path, body) => {
  const { url } = await listen(agentOf(['Hi.']), { agui: true })
  const response = await ask(`${url}${path}`, { body })
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('request.invalid')])
})

function aguiWith(parameters: object): object {
  const messages = [{ id: 'm', role: 'user', content: 'Go' }]
  return { threadId: 'a', runId: 'r', messages, tools: [{ name: 'look', parameters }] }
}
