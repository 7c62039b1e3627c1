import { scriptedModel } from 'allium/testing'
import { expect, it } from 'vitest'
import { openOrders } from '../src/orders.ts'
import type { Context, Principal } from '../src/principal.ts'
import { createSupportAgent } from '../src/support-agent.ts'

const acme: Principal = { tenantId: 'acme', tenant: 'Acme Outdoors', userId: 'dana', plan: 'business' }
const globex: Principal = { tenantId: 'globex', tenant: 'Globex', userId: 'hank', plan: 'starter' }
const context: Context = { channel: 'chat', today: '2026-03-12' }

it('finds an order of the tenant who asks', async () => {
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
  [acme, 'A-1042', 500.01, 'denied'],
  [globex, 'G-2001', 50, 'ok'],
  [globex, 'G-2001', 50.01, 'denied'],
])('holds refunds to the limit of the plan: %o %s %d %s', async (principal, orderId, amount, status) => {
  const orders = openOrders()
  const [refunded] = await callTool(principal, 'refund', { orderId, amount }, orders)
  expect(refunded?.status).toBe(status)
  expect(orders.find(principal.tenantId, orderId)?.refunded).toBe(status === 'ok' ? amount : 0)
})

it('refunds no more than the order has left', async () => {
  const [refunded] = await callTool(acme, 'refund', { orderId: 'A-1043', amount: 321 })
  expect(refunded).toMatchObject({ status: 'error' })
})

it('adds up what was paid and denied in the state of the session', async () => {
  const call = (amount: number) => ({ name: 'refund', args: { orderId: 'A-1042', amount } })
  const model = scriptedModel([{ toolCalls: [call(10), call(32), call(600)] }, 'Done.'])
  const { agent } = createSupportAgent(model)
  const { state } = await agent.run('Refund.', { session: { principal: acme, context } })
  expect(state['refunds:paid']).toBe(42)
  expect(state['refunds:denied']).toBe(1)
})

it('refuses a principal that names no tenant', () => {
  const { agent } = createSupportAgent(scriptedModel([]))
  expect(() => agent.session({ principal: { ...acme, tenantId: '' } })).toThrow('principal')
})

/** The results of one call that the model makes. */
async function callTool(principal: Principal, name: string, args: object, orders = openOrders()) {
  const { agent } = createSupportAgent(scriptedModel([{ toolCalls: [{ name, args: { ...args } }] }, 'Done.']), orders)
  const { toolCalls } = await agent.run('Please.', { session: { principal, context } })
  return toolCalls.map(({ result }) => result)
}
