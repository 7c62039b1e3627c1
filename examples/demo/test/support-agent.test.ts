import { type ScriptedStep, scriptedModel } from 'allium/testing'
import { expect, it } from 'vitest'
import { openOrders } from '../src/orders.ts'
import type { Context, Principal } from '../src/principal.ts'
import { createSupportAgent } from '../src/support-agent.ts'

const acme: Principal = { tenantId: 'acme', tenant: 'Acme Outdoors', userId: 'dana', plan: 'business' }
const globex: Principal = { tenantId: 'globex', tenant: 'Globex', userId: 'hank', plan: 'starter' }
const context: Context = { channel: 'chat', today: '2026-03-12' }

it("finds an order of the caller's tenant", async () => {
  const [found] = await callTool(acme, 'look_up_order', { orderId: 'A-1042' })
  expect(found).toMatchObject({ status: 'ok', value: { id: 'A-1042', total: 1240 } })
})

it("does not find another tenant's order", async () => {
  const [found] = await callTool(globex, 'look_up_order', { orderId: 'A-1042' })
  expect(found).toMatchObject({ status: 'error', content: 'No order A-1042.' })
})

it('does not let the model choose the tenant', async () => {
  const [found] = await callTool(globex, 'look_up_order', { orderId: 'A-1042', tenantId: 'acme' })
  expect(found).toMatchObject({ status: 'error', content: 'No order A-1042.' })
})

it("does not refund another tenant's order", async () => {
  const orders = openOrders()
  const [refunded] = await callTool(globex, 'refund', { orderId: 'A-1043', amount: 10 }, orders)
  expect(refunded?.status).toBe('error')
  expect(orders.find('acme', 'A-1043')?.refunded).toBe(0)
})

it.each([
  [acme, 'A-1042', 500, 'ok'],
  [acme, 'A-1042', 500.01, 'suspended'],
  [globex, 'G-2001', 50, 'ok'],
  [globex, 'G-2001', 50.01, 'suspended'],
])(
  "requires approval above the plan's limit, and refunds nothing before it: %o %s %d %s",
  async (principal, orderId, amount, status) => {
    const orders = openOrders()
    const [refunded] = await callTool(principal, 'refund', { orderId, amount }, orders)
    expect(refunded?.status).toBe(status)
    expect(orders.find(principal.tenantId, orderId)?.refunded).toBe(status === 'ok' ? amount : 0)
  },
)

it('refunds an approved amount', async () => {
  const { session, orders } = await waiting(600)
  const { status, state, text } = await session.resume({ c1: { approve: true } })
  expect([status, text, state['refunds:paid']]).toEqual(['completed', 'Done.', 600])
  expect(orders.find('acme', 'A-1042')?.refunded).toBe(600)
})

it('refunds the amount that the approver changed it to', async () => {
  const { session } = await waiting(600)
  const { state } = await session.resume({ c1: { args: { orderId: 'A-1042', amount: 550 } } })
  expect(state['refunds:paid']).toBe(550)
})

it('refunds nothing after a denial, gives the model the reason, and gives the user a ticket', async () => {
  const { session, orders } = await waiting(600)
  const { text, state, toolCalls } = await session.resume({ c1: { deny: 'Send it back first.' } })
  expect(toolCalls[0]?.result).toMatchObject({ status: 'denied', content: 'Send it back first.' })
  expect(text).toMatch(/^Done\. \(.* ticket .*-1\.\)$/)
  expect(state['refunds:denied']).toBe(1)
  expect(orders.find('acme', 'A-1042')?.refunded).toBe(0)
})

it('gives the ticket when the turn has its answer, not while another refund waits', async () => {
  const { session } = await waiting(600, {
    toolCalls: [{ name: 'refund', callId: 'c2', args: { orderId: 'A-1042', amount: 700 } }],
  })
  const second = await session.resume({ c1: { deny: 'No.' } })
  expect(second.status).toBe('suspended')
  const { text } = await session.resume({ c2: { approve: true } })
  expect(text).toContain('ticket')
})

it('refunds no more than the order has left', async () => {
  const [refunded] = await callTool(acme, 'refund', { orderId: 'A-1043', amount: 321 })
  expect(refunded).toMatchObject({ status: 'error' })
})

it('counts paid and denied refunds in the state of the session', async () => {
  const call = (amount: number) => ({ name: 'refund', args: { orderId: 'A-1042', amount } })
  const model = scriptedModel([{ toolCalls: [call(10), call(32), call(600)] }, 'Done.'])
  const session = createSupportAgent(model).agent.session({ principal: acme, context })
  const { pending } = await session.run('Refund.')
  const { state } = await session.resume({ [pending[0]!.callId]: { deny: 'No.' } })
  expect(state['refunds:paid']).toBe(42)
  expect(state['refunds:denied']).toBe(1)
})

it('refuses a principal that names no tenant', () => {
  const { agent } = createSupportAgent(scriptedModel([]))
  expect(() => agent.session({ principal: { ...acme, tenantId: '' } })).toThrow('principal')
})

/** A session of acme with the pending refund "c1". After it, the model answers with `more`, then with "Done.". */
async function waiting(amount: number, ...more: ScriptedStep[]) {
  const orders = openOrders()
  const first = { toolCalls: [{ name: 'refund', callId: 'c1', args: { orderId: 'A-1042', amount } }] }
  const { agent } = createSupportAgent(scriptedModel([first, ...more, 'Done.']), orders)
  const session = agent.session({ principal: acme, context })
  expect((await session.run('Refund.')).pending).toMatchObject([
    { callId: 'c1', request: { reason: expect.stringContaining('Refunds over $500 need approval') } },
  ])
  return { session, orders }
}

/** The results of one call that the model makes. */
async function callTool(principal: Principal, name: string, args: object, orders = openOrders()) {
  const { agent } = createSupportAgent(scriptedModel([{ toolCalls: [{ name, args: { ...args } }] }, 'Done.']), orders)
  const { toolCalls } = await agent.run('Please.', { session: { principal, context } })
  return toolCalls.map(({ result }) => result)
}
