import { defineTool } from '@allium/core'
import { memoryEventLog } from '@allium/store'
import { expect, test } from 'vitest'
import { agentOf, ask, asStream, kept, listen } from './kit.ts'

/** A generator of numbers in [0, 1) that gives the same again: mulberry32. */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const wait = defineTool({
  name: 'wait',
  description: 'Waits for an approval.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'done',
})

const people = ['acme/ann', 'acme/bob', 'umbrella/ann', 'umbrella/bob', 'acme/', '/ann']
const ids = ['one', 'two', 'acme', 'ann']

/** What everybody says and is answered holds their own canary; no answer to anybody may hold another's. */
test("whatever is asked by whomever, nobody sees what is another tenant's or owner's", async () => {
  const next = seeded(7)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  const answers = Array.from({ length: 300 }, () => ({ messages }: { messages: readonly { content: unknown }[] }) => {
    const said =
      JSON.stringify(messages)
        .match(/canary-[^"\\ ]+/g)
        ?.at(-1) ?? ''
    return said.endsWith('wait') ? { text: said, toolCalls: [{ name: 'wait', args: { said } }] } : `You said ${said}`
  })
  const { agent, sessions } = kept(agentOf(answers, { tools: [wait], approvals: { secret: 'a secret of the test' } }))
  const { url } = await listen(agent, { sessions, events: memoryEventLog(), uiStream: 7, openai: true, agui: true })
  const tokens: string[] = []
  const runs: string[] = ['1.none']
  const responses: string[] = []
  const seen = new Map<string, number>()
  const forks = new Map<string, string>()

  const routes: Record<string, (as: string, id: string) => Promise<Response>> = {
    run: (as, id) =>
      ask(`${url}/sessions/${id}/runs`, {
        as,
        body: { input: `canary-${as}-${pick(['say', 'wait'])}` },
        ...(next() < 0.5 && { headers: asStream }),
      }),
    decide: (as, id) =>
      ask(`${url}/sessions/${id}/decisions`, {
        as,
        body: { decisions: { [`call-${1 + Math.floor(next() * 5)}`]: { approve: true, token: pick(tokens) } } },
      }),
    events: (as, id) => ask(`${url}/sessions/${id}/events`, { as, headers: { 'last-event-id': pick(runs) } }),
    stop: (as, id) => ask(`${url}/sessions/${id}/stop`, { as, method: 'POST' }),
    messages: (as, id) => ask(`${url}/sessions/${id}/messages`, { as }),
    usage: (as, id) => ask(`${url}/sessions/${id}/usage`, { as }),
    state: (as, id) => ask(`${url}/sessions/${id}/state`, { as }),
    fork: (as, id) => ask(`${url}/sessions/${id}/fork`, { as, body: next() < 0.5 ? { id: pick(ids) } : {} }),
    delete: (as, id) => ask(`${url}/sessions/${id}`, { as, method: 'DELETE' }),
    chat: (as, id) => {
      const parts = [{ type: 'text', text: `canary-${as}-${pick(['say', 'wait'])}` }]
      return ask(`${url}/chat`, { as, body: { id, messages: [{ role: 'user', parts }] } })
    },
    chatStream: (as, id) => ask(`${url}/chat/${id}/stream`, { as }),
    chatStop: (as, id) => ask(`${url}/chat/${id}/stop`, { as, method: 'POST' }),
    completion: (as, id) => {
      const messages = [{ role: 'user', content: `canary-${as}-say` }]
      const headers: Record<string, string> = next() < 0.5 ? { 'x-session-id': id } : {}
      return ask(`${url}/v1/chat/completions`, { as, headers, body: { model: 'agent', messages } })
    },
    response: async (as) => {
      const previous = next() < 0.5 && responses.length > 0 ? { previous_response_id: pick(responses) } : {}
      const asked = ask(`${url}/v1/responses`, { as, body: { model: 'agent', input: `canary-${as}-say`, ...previous } })
      const { id } = (await (await asked).clone().json()) as { id?: string }
      if (id !== undefined) responses.push(id)
      return asked
    },
    agui: (as, id) => {
      const messages = [{ id: 'm', role: 'user', content: `canary-${as}-${pick(['say', 'wait'])}` }]
      return ask(`${url}/agui`, { as, body: { threadId: id, runId: 'r', messages } })
    },
    list: (as) => ask(`${url}/sessions?limit=100`, { as }),
    approvals: (as) => ask(`${url}/approvals?limit=100`, { as }),
  }
  for (let n = 0; n < 300; n++) {
    const [route, as, id] = [pick(Object.keys(routes)), pick(people), pick(ids)]
    const response = await (routes[route] as (typeof routes)[string])(as, id)
    const text = await response.text()
    for (const [canary] of text.matchAll(/canary-[a-z]*\/[a-z]*/g))
      expect(`${n} ${route}: ${canary}`).toBe(`${n} ${route}: canary-${as}`)
    if (route === 'fork' && response.status === 201) {
      const { id: fork } = JSON.parse(text) as { id: string }
      if (!ids.includes(fork)) forks.set(fork, as)
    }
    for (const [fork, owner] of forks)
      if (text.includes(fork)) expect(`${n} ${route}: ${owner}`).toBe(`${n} ${route}: ${as}`)
    for (const [, token] of text.matchAll(/"token":"([^"]+)"/g)) tokens.push(token as string)
    for (const [, run] of text.matchAll(/^id: (.+)$/gm)) runs.push(run as string)
    if (as === 'acme/') expect(response.status).toBe(401)
    const outcome = `${route} ${response.status < 300}`
    seen.set(outcome, 1 + (seen.get(outcome) ?? 0))
  }
  // Each route has answered somebody, and refused what was not theirs where it names a session.
  for (const route of Object.keys(routes))
    if (!['stop', 'chatStop', 'decide'].includes(route))
      expect([route, seen.has(`${route} true`)]).toEqual([route, true])
  for (const route of ['messages', 'usage', 'state', 'fork', 'delete', 'stop', 'chatStop', 'decide', 'response'])
    expect([route, seen.has(`${route} false`)]).toEqual([route, true])
}, 60_000)

test('who may read another owner of their tenant sees list, messages and usage, without tokens, and does nothing there', async () => {
  const refund = [{ text: 'I ask.', toolCalls: [{ name: 'wait' }] }]
  const agent = agentOf(refund, { tools: [wait], approvals: { secret: 'a secret of the test' } })
  const asked: unknown[] = []
  const { url } = await listen(agent, {
    canRead: (principal, of) => {
      asked.push(of)
      return (principal as { userId: string }).userId === 'support'
    },
  })
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
  const read = async (path: string, as: string) => {
    const response = await ask(`${url}${path}`, { as })
    return [response.status, await response.text()] as const
  }
  const [status, messages] = await read('/sessions/a/messages?owner=ann', 'acme/support')
  expect([status, messages]).toEqual([200, expect.stringContaining('I ask.')])
  expect(messages).not.toContain('approval')
  for (const route of ['usage', 'state'])
    expect((await read(`/sessions/a/${route}?owner=ann`, 'acme/support'))[0]).toBe(200)
  expect((await read('/sessions?owner=ann', 'acme/support'))[1]).toContain('"id":"a"')
  expect(asked[0]).toEqual({ owner: 'ann', agent: 'agent', sessionId: 'a' })
  for (const as of ['acme/bob', 'umbrella/support']) {
    expect((await read('/sessions/a/messages?owner=ann', as))[0]).toBe(404)
    expect((await read('/sessions?owner=ann', as))[1]).toBe('{"sessions":[]}')
  }
  for (const [method, path] of [
    ['POST', 'stop'],
    ['GET', 'events'],
    ['DELETE', ''],
  ] as const) {
    const response = await ask(`${url}/sessions/a/${path}?owner=ann`.replace('/?', '?'), { as: 'acme/support', method })
    expect([path, response.status]).toEqual([path, path === 'events' ? 204 : 404])
  }
})
