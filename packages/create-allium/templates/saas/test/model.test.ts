import { sqlite } from '@allium/store-sqlite'
import { expect, test } from 'vitest'
import { createAssistant } from '../src/agent.ts'
import { chooseModel } from '../src/model.ts'

/** Opens a session with the script that answers without a key. */
function open() {
  const { model } = chooseModel({})
  const store = sqlite(':memory:')
  const assistant = createAssistant({ model, store, secret: 'a secret for tests, 32 characters' })
  return assistant.session({ id: 'a', principal: { tenantId: 'acme', userId: 'ann', email: 'ann@acme.test' } })
}

test('the script answers about the order in the question', async () => {
  const { text } = await open().run('Where is order 17?')
  expect(text).toBe('Order 17 is a desk lamp. It was delivered.')
})

test.each([
  [{ approve: true as const }, 'I have refunded order 17.'],
  [{ deny: 'The user denied the call.' }, 'I have not refunded order 17.'],
])('the script refunds an order only after approval: %o', async (decision, answer) => {
  const session = open()
  await session.run('My lamp of order 17 is broken.')
  expect(session.pending).toMatchObject([{ name: 'refund', args: { number: '17', cents: 4900 } }])
  const [{ callId, token } = { callId: '' }] = session.pending
  const { text } = await session.resume({ [callId]: { ...decision, ...(token !== undefined && { token }) } })
  expect(text).toContain(answer)
})
