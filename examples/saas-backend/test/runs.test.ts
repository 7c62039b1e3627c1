import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { serve } from '@allium/server/node'
import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { openAccounts } from '../src/accounts.ts'
import { createApp } from '../src/app.ts'
import { demoKeys } from '../src/demo-keys.ts'
import { encryption } from '../src/encryption.ts'
import { openStore } from '../src/store.ts'

const [dana, alex, , gina] = demoKeys.map(({ key }) => key) as [string, string, string, string]

/** The product with durable runs, on a socket. */
async function product(...answers: Parameters<typeof scriptedModel>[0]) {
  const dir = mkdtempSync(`${tmpdir()}/allium-saas-`)
  const secret = 'a secret of the test'
  const store = await openStore({ SAAS_DATA: dir }, { encrypt: encryption(secret) })
  const model = Object.assign(scriptedModel(answers), { id: 'openai/gpt-5-mini' })
  const models = { resolve: async () => model, name: 'a script', close: async () => {} }
  const parts = { store, models, secret, accounts: openAccounts(), pages: new Map() }
  const app = await createApp({ ...parts, isDurable: true })
  const { url, close } = await serve(app.server, { port: 0, hostname: '127.0.0.1' })
  onTestFinished(async () => {
    await close()
    await app.close()
    await store.close()
    rmSync(dir, { recursive: true })
  })
  return async (key: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, init)
    return { status: response.status, json: (await response.json()) as never as Record<string, never> }
  }
}

/** A completed run of Dana, and its id. */
async function completed(ask: Awaited<ReturnType<typeof product>>): Promise<string> {
  const { json } = await ask(dana, '/api/sessions/a/runs', { input: 'Where is my secret order?' })
  return json.turnId ?? ''
}

test('an admin sees the durable runs of their company with their steps, without messages', async () => {
  const ask = await product('It is secret.')
  const run = await completed(ask)
  const { json } = await ask(alex, '/admin/api/acme/runs')
  expect(json).toMatchObject({ groups: [{ status: 'completed', count: 1 }], failures: [], runs: [{ run }] })
  const shown = await ask(alex, `/admin/api/acme/runs/${run}`)
  const spent = { inputTokens: 10, outputTokens: 5, cost: expect.any(Number) }
  expect(shown.json.timeline).toContainEqual(expect.objectContaining({ type: 'step', kind: 'model', spent }))
  expect(shown.json.cost).toBeGreaterThan(0)
  expect(JSON.stringify([json, shown.json])).not.toContain('secret')
})

test('runs of another company do not exist for an admin', async () => {
  const ask = await product('Hello.')
  const run = await completed(ask)
  expect((await ask(gina, '/admin/api/globex/runs')).json).toMatchObject({ runs: [] })
  const statuses = [
    ask(gina, `/admin/api/globex/runs/${run}`),
    ask(gina, `/admin/api/globex/runs/${run}/stop`, {}),
    ask(gina, `/admin/api/acme/runs/${run}`),
    ask(dana, '/admin/api/acme/runs'),
  ].map(async (asked) => (await asked).status)
  expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404])
})

test('an admin reads messages only with that right and a reason, and the audit records both', async () => {
  const ask = await product('It is secret.')
  const path = `/admin/api/acme/runs/${await completed(ask)}/content`
  expect((await ask(alex, path, {})).status).toBe(400)
  expect(JSON.stringify((await ask(alex, path, { reason: 'ticket 7' })).json)).toContain('It is secret.')
  const { json } = await ask(alex, '/admin/api/acme/audit')
  expect(json.records?.[0]).toMatchObject({ type: 'operator:content', operator: 'alex', reason: 'ticket 7' })
  expect(json.verdict).toMatchObject({ ok: true })
})

test('an admin without the right cannot read messages, even of their company', async () => {
  const ask = await product('Hello.')
  const { json } = await ask(gina, '/api/sessions/a/runs', { input: 'Hi' })
  const path = `/admin/api/globex/runs/${json.turnId}`
  expect((await ask(gina, path)).status).toBe(200)
  expect((await ask(gina, `${path}/content`, { reason: 'x' })).status).toBe(404)
})

test('an admin stops a run of their company', async () => {
  const ask = await product({ stall: true })
  const running = ask(dana, '/api/sessions/a/runs', { input: 'Hi' })
  const runs = async () => (await ask(alex, '/admin/api/acme/runs')).json.runs as unknown as { run: string }[]
  await expect.poll(async () => (await runs()).length, { timeout: 15_000 }).toBe(1)
  const [{ run } = { run: '' }] = await runs()
  expect((await ask(alex, `/admin/api/acme/runs/${run}/stop`, {})).json).toEqual({ done: true })
  expect((await running).json).toMatchObject({ status: 'aborted' })
  expect((await ask(alex, `/admin/api/acme/runs/${run}/retry`, {})).json).toMatchObject({
    done: false,
    reason: expect.stringContaining('only failed runs'),
  })
})

test('a call of billing waits for its approval in a durable run, and billing continues after it', async () => {
  const hand = { toolCalls: [{ name: 'handoff', args: { to: 'billing' } }] }
  const credit = { toolCalls: [{ name: 'credit_invoice', args: { invoiceId: 'INV-311', amount: 95 } }] }
  const ask = await product(hand, credit, 'I credited it.')
  const { json } = await ask(dana, '/api/sessions/a/runs', { input: 'I was charged twice.' })
  expect(json).toMatchObject({ status: 'suspended', pending: [{ name: 'credit_invoice', args: { amount: 95 } }] })
  const { json: waiting } = await ask(alex, '/api/approvals')
  const [{ token }] = waiting.approvals as unknown as [{ token: string }]
  expect((await ask(alex, '/api/approvals', { token, approve: true })).status).toBe(202)
  const turns = async () => (await ask(alex, '/admin/api/acme/sessions/dana/a/turns')).json.turns as unknown
  await expect.poll(turns, { timeout: 15_000 }).toMatchObject([
    { agent: 'billing', status: 'completed' },
    { agent: 'billing', status: 'suspended' },
    { agent: 'support', status: 'stopped' },
  ])
})
