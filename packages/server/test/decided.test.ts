import { defineTool, systemClock } from '@allium/core'
import { expect, test } from 'vitest'
import { agentOf, ask, listen } from './kit.ts'

const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'Refunded.',
})
const call = { toolCalls: [{ name: 'refund', callId: 'c1', args: {} }] }
const chatOf = (token: string) => {
  const part = {
    type: 'tool-refund',
    toolCallId: 'c1',
    state: 'approval-responded',
    approval: { id: token, approved: true },
  }
  return { id: 'a', messages: [{ role: 'assistant', parts: [part] }] }
}
const resumeOf = (token: string) => {
  const entry = { interruptId: token, status: 'resolved', payload: { approved: true } }
  return { threadId: 'a', runId: 'r', messages: [], resume: [entry] }
}
/** The ways of an approval, by protocol. */
const ways: [string, (token: string) => { path: string; body: object }][] = [
  [
    'the session',
    (token) => ({ path: '/sessions/a/decisions', body: { decisions: { c1: { approve: true, token } } } }),
  ],
  ['the token alone', (token) => ({ path: '/approvals', body: { token, approve: true } })],
  ['a page of the AI SDK', (token) => ({ path: '/chat', body: chatOf(token) })],
  ['an interrupt of AG-UI', (token) => ({ path: '/agui', body: resumeOf(token) })],
]

async function waiting() {
  let late = 0
  const clock = { ...systemClock, now: () => Date.now() + late }
  const approvals = { secret: 'a secret of the test', expiresIn: 60_000 }
  const { url } = await listen(agentOf([call, 'Done.'], { tools: [refund], approvals, clock }), {
    uiStream: 7,
    agui: true,
  })
  const run = await ask(`${url}/sessions/a/runs`, { body: { input: 'Refund' } })
  const { pending } = (await run.json()) as { pending: { token: string }[] }
  const token = pending[0]?.token ?? ''
  const send = async (way: (typeof ways)[number][1], as = 'acme/ann', given = token) => {
    const { path, body } = way(given)
    const response = await ask(`${url}${path}`, { body, as })
    const text = await response.text()
    return [response.status, response.status < 400 ? '' : (JSON.parse(text) as { code: string }).code]
  }
  const settled = () =>
    expect.poll(async () => (await ask(`${url}/sessions/a/messages`)).text(), { timeout: 5000 }).toContain('Done.')
  return { send, settled, expire: () => void (late = 61_000) }
}

test.each(ways)('an approval that was used by %s is 409, whichever way it comes again', async (_, way) => {
  const { send, settled } = await waiting()
  expect((await send(way))[0]).toBeLessThan(300)
  await settled()
  for (const [, again] of ways) expect(await send(again)).toEqual([409, 'approval.used'])
})

test.each(ways)('an approval by %s that comes too late is 410', async (_, way) => {
  const { send, expire } = await waiting()
  expire()
  expect(await send(way)).toEqual([410, 'approval.expired'])
})

test('a token that was used tells nothing to another tenant, and one that never was is unknown', async () => {
  const { send, settled } = await waiting()
  const [, [, byToken]] = ways as [unknown, (typeof ways)[number]]
  expect((await send(byToken))[0]).toBe(202)
  await settled()
  expect(await send(byToken, 'globex/ann')).toEqual([404, 'approval.unknown'])
  expect(await send(byToken, 'acme/ann', 'another')).toEqual([404, 'approval.unknown'])
})
