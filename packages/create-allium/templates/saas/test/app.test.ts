import { expect, test } from 'vitest'
import { ann, bob, start } from './kit.ts'

test('answers a signed-in user', async () => {
  const { ask, signUp } = await start('Hello Ann.')
  const cookie = await signUp(ann)
  const response = await ask('/api/sessions/a/runs', { cookie, body: { input: 'Hi' } })
  expect(await response.json()).toMatchObject({ status: 'completed', text: 'Hello Ann.' })
})

test('rejects a request without a cookie, and one with a forged cookie', async () => {
  const { ask, signUp } = await start()
  const cookie = await signUp(ann)
  const forged = cookie.replace('ann', 'bob')
  expect((await ask('/api/sessions/a/runs', { body: { input: 'Hi' } })).status).toBe(401)
  expect((await ask('/api/sessions/a/runs', { cookie: forged, body: { input: 'Hi' } })).status).toBe(401)
})

test('hides the sessions of other users', async () => {
  const { ask, signUp } = await start('Hello Ann.')
  const cookie = await signUp(ann)
  await ask('/api/sessions/a/runs', { cookie, body: { input: 'Hi' } })
  expect((await ask('/api/sessions/a/messages', { cookie: await signUp(bob) })).status).toBe(404)
  expect((await ask('/api/sessions/a/messages', { cookie })).status).toBe(200)
})

test('asks before a refund', async () => {
  const { ask, signUp } = await start(
    { toolCalls: [{ name: 'refund', callId: 'c1', args: { number: '7', cents: 100 } }] },
    'Done.',
  )
  const cookie = await signUp(ann)
  const response = await ask('/api/sessions/a/runs', { cookie, body: { input: 'Refund 7' } })
  const suspended = (await response.json()) as { pending: [{ token: string }] }
  expect(suspended).toMatchObject({ status: 'suspended', pending: [{ callId: 'c1', name: 'refund' }] })
  const decisions = { c1: { approve: true, token: suspended.pending[0].token } }
  const resumed = await ask('/api/sessions/a/decisions', { cookie, body: { decisions } })
  expect(await resumed.json()).toMatchObject({ status: 'completed', text: 'Done.' })
})
