import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { MemoryView } from '@allium/server/memory-client'
import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { openAccounts } from '../src/accounts.ts'
import { createApp } from '../src/app.ts'
import type { DayOfUsage } from '../src/billing.ts'
import { demoKeys } from '../src/demo-keys.ts'
import { openStore } from '../src/store.ts'

const [dana, alex, hank] = demoKeys.map(({ key }) => key) as [string, string, string]

async function product(...answers: Parameters<typeof scriptedModel>[0]) {
  const dir = mkdtempSync(`${tmpdir()}/allium-saas-`)
  const store = await openStore({ SAAS_DATA: dir })
  const model = Object.assign(scriptedModel(answers), { id: 'openai/gpt-5-mini' })
  const models = { resolve: async () => model, name: 'a script', close: async () => {} }
  const app = await createApp({
    store,
    models,
    accounts: openAccounts(),
    pages: new Map(),
    secret: 'a secret of the test',
  })
  onTestFinished(async () => {
    await app.close()
    await store.close()
    rmSync(dir, { recursive: true })
  })
  const ask = (
    path: string,
    { key, cookie, body, method }: { key?: string; cookie?: string; body?: unknown; method?: string } = {},
  ) =>
    app.server.fetch(
      new Request(`http://localhost${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(cookie !== undefined && { cookie }),
          ...((body ?? method) !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  return { ask, model }
}

test('a key is exchanged for a signed cookie that scripts cannot read and other sites cannot send', async () => {
  const { ask } = await product()
  expect((await ask('/sign-in', { body: { key: 'guess' } })).status).toBe(401)
  const set = (await ask('/sign-in', { body: { key: dana } })).headers.get('set-cookie') as string
  expect(set).toMatch(/HttpOnly; SameSite=Strict/)
  const cookie = set.split(';')[0] as string
  expect(await (await ask('/me', { cookie })).json()).toMatchObject({ me: { name: 'Dana', plan: 'business' } })
  const forged = cookie.replace('dana', 'alex')
  expect(forged).not.toBe(cookie)
  expect(await (await ask('/me', { cookie: forged })).json()).toEqual({ me: null })
  expect((await ask('/api/sessions', { cookie: forged })).status).toBe(401)
})

test('a cookie is invalid after the sign-out, and a long key is rejected', async () => {
  const { ask } = await product()
  const set = async () => (await ask('/sign-in', { body: { key: dana } })).headers.get('set-cookie') ?? ''
  const [mine, other] = [await set(), await set()].map((one) => one.split(';')[0] as string)
  expect((await ask('/sign-out', { cookie: mine, body: {} })).status).toBe(204)
  expect(await (await ask('/me', { cookie: mine })).json()).toEqual({ me: null })
  expect(await (await ask('/me', { cookie: other })).json()).toMatchObject({ me: { name: 'Dana' } })
  expect((await ask('/sign-in', { body: { key: 'a'.repeat(5000) } })).status).toBe(413)
})

test('only admins see a tenant, and only the tenants that they administer', async () => {
  const { ask } = await product('Hello.')
  await ask('/api/sessions/a/runs', { key: dana, body: { input: 'Hi' } })
  const statuses = async (tenant: string, key?: string) =>
    Promise.all(
      ['usage', 'sessions', 'audit', 'waiting', 'sessions/dana/a/turns'].map(
        async (what) => (await ask(`/admin/api/${tenant}/${what}`, { ...(key !== undefined && { key }) })).status,
      ),
    )
  expect(await statuses('acme', alex)).toEqual([200, 200, 200, 200, 200])
  expect(await statuses('globex', alex)).toEqual([404, 404, 404, 404, 404])
  expect(await statuses('acme', dana)).toEqual([404, 404, 404, 404, 404])
  expect(await statuses('acme')).toEqual([401, 401, 401, 401, 401])
})

test.each(['nonsense', '[1.5]', '[1e999]', '[0,"a\\u0000","b"]'])(
  'a cursor of the admin page such as %s is refused',
  async (cursor) => {
    const { ask } = await product()
    const response = await ask(`/admin/api/acme/sessions?cursor=${encodeURIComponent(cursor)}`, { key: alex })
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'request.invalid' }])
  },
)

test('a run is billed once to its tenant and day, and its onion is stored', async () => {
  const { ask } = await product('Hello.')
  const ran = await ask('/api/sessions/a/runs', { key: dana, body: { input: 'Hi' } })
  const { turnId } = (await ran.json()) as { turnId: string }
  const today = async () => {
    const { days } = (await (await ask('/admin/api/acme/usage', { key: alex })).json()) as { days: DayOfUsage[] }
    return days.at(-1) as DayOfUsage
  }
  const first = await today()
  expect([first.runs, first.cost > 0]).toEqual([1, true])
  expect(await today()).toEqual(first)
  const onion = await (await ask(`/admin/api/acme/sessions/dana/a/turns/${turnId}/onion`, { key: alex })).json()
  expect(onion).toMatchObject({ turnId, status: 'completed', root: { layer: 'guard:pii' } })
})

test('a plan without refunds does not offer the tool to the model, and denies calls to it', async () => {
  const call = { name: 'refund', args: { orderId: 'G-2001', amount: 5 } }
  const { ask, model } = await product({ toolCalls: [call] }, 'No.')
  await ask('/api/sessions/a/runs', { key: hank, body: { input: 'Refund it' } })
  expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ['recall', 'update_memory', 'look_up_order', 'read_skill', 'handoff'],
    ['recall', 'update_memory', 'look_up_order', 'read_skill', 'handoff'],
  ])
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('starter plan does not include refund')
})

test('the prompt has the skills of the product, and a conversation can read one', async () => {
  const call = { name: 'read_skill', args: { skill: 'damaged-items', file: 'references/amounts.md' } }
  const { ask, model } = await product({ toolCalls: [call] }, 'You get 25 % back.')
  await ask('/api/sessions/a/runs', { key: dana, body: { input: 'The stove is dented' } })
  const [first, second] = model.requests.map(({ messages }) => JSON.stringify(messages))
  for (const name of ['damaged-items', 'late-deliveries', 'returns']) expect(first).toContain(`- ${name}: `)
  expect(first).not.toContain('share of the price')
  expect(second).toContain('| scratched or dented, and works | 25 % |')
})

test('a question about an invoice goes to billing, which answers it and later ones until it hands back', async () => {
  const hand = (to: string) => ({ toolCalls: [{ name: 'handoff', args: { to } }] })
  const { ask, model } = await product(hand('billing'), 'It is INV-311.', hand('support'), 'It was delivered.')
  const say = async (input: string) => {
    const ran = await ask('/api/sessions/a/runs', { key: dana, body: { input } })
    const { state } = (await (await ask('/api/sessions/a/state', { key: dana })).json()) as never as {
      state: { 'tools:handoff': { agent: string } }
    }
    return [((await ran.json()) as { text: string }).text, state['tools:handoff'].agent]
  }
  expect(await say('Which invoice is it?')).toEqual(['It is INV-311.', 'billing'])
  expect(await say('Where is A-1042?')).toEqual(['It was delivered.', 'support'])
  const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name).join())
  const [support, billing] = [
    'recall,update_memory,look_up_order,refund,read_skill,handoff',
    'recall,update_memory,look_up_invoice,credit_invoice,handoff',
  ]
  expect(offered).toEqual([support, billing, billing, support])
})

test('a budget that the first agent has used up stops the second one', async () => {
  const hand = {
    toolCalls: [{ name: 'handoff', args: { to: 'billing' } }],
    usage: { inputTokens: 50_000, outputTokens: 5 },
  }
  const { ask, model } = await product(hand, 'It is INV-902.')
  const ran = await ask('/api/sessions/a/runs', { key: hank, body: { input: 'Which invoice is it?' } })
  expect(await ran.json()).toMatchObject({ code: 'guard.budget' })
  expect(model.requests).toHaveLength(1)
})

test('the turns of both agents are billed to their tenant', async () => {
  const { ask } = await product({ toolCalls: [{ name: 'handoff', args: { to: 'billing' } }] }, 'It is INV-311.')
  await ask('/api/sessions/a/runs', { key: dana, body: { input: 'Which invoice is it?' } })
  const { days } = (await (await ask('/admin/api/acme/usage', { key: alex })).json()) as { days: DayOfUsage[] }
  const { turns } = (await (await ask('/admin/api/acme/sessions/dana/a/turns', { key: alex })).json()) as {
    turns: { agent: string; status: string }[]
  }
  expect(turns.map(({ agent, status }) => [agent, status])).toEqual([
    ['billing', 'completed'],
    ['support', 'stopped'],
  ])
  expect(days.at(-1)).toMatchObject({ runs: 2, usage: { inputTokens: 20 } })
})

test('all agents know the notes of a person, who sees them, switches them off and deletes them', async () => {
  const note = { toolCalls: [{ name: 'update_memory', args: { set: { delivery: 'Before noon' } } }] }
  const hand = { toolCalls: [{ name: 'handoff', args: { to: 'billing' } }] }
  const { ask, model } = await product(note, 'Noted.', hand, 'Hello.', 'Hello again.')
  const say = (id: string) => ask(`/api/sessions/${id}/runs`, { key: dana, body: { input: 'Hi' } })
  const view = async (key: string) => {
    const { on, passages, blocks } = (await (await ask('/api/memory', { key })).json()) as MemoryView
    return [on, passages, blocks.map(({ block }) => block)]
  }
  await say('a')
  expect(await view(dana)).toEqual([true, 2, [{ delivery: 'Before noon' }]])
  expect(await view(alex)).toEqual([true, 0, [{}]])
  const listed = (await (await ask('/admin/api/acme/sessions', { key: alex })).json()) as { items: object[] }
  expect(listed.items).toMatchObject([{ key: { owner: 'dana', sessionId: 'a' } }])
  await say('b')
  expect(JSON.stringify(model.requests[3]?.messages)).toContain('Before noon')
  await ask('/api/memory/switch', { key: dana, method: 'PUT', body: { on: false } })
  await say('c')
  const { messages, tools } = model.requests[4] as (typeof model.requests)[number]
  expect(JSON.stringify(messages)).not.toContain('Before noon')
  expect(tools.map(({ name }) => name)).not.toContain('update_memory')
  await ask('/api/memory', { key: dana, method: 'DELETE' })
  expect(await view(dana)).toEqual([false, 0, [{}]])
})

test('a page may load only its own files, and cannot be framed', async () => {
  const { ask } = await product()
  const policy = (await ask('/me')).headers.get('content-security-policy')
  for (const rule of ["default-src 'none'", "script-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'"])
    expect(policy).toContain(rule)
  expect(policy).not.toContain('unsafe')
})
