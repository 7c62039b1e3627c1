import { expect, test } from 'vitest'
import { ann, start } from './kit.ts'

test('signs in with the right password only', async () => {
  const { ask, signUp } = await start()
  await signUp(ann)
  expect((await ask('/sign-in', { body: ann })).status).toBe(200)
  expect((await ask('/sign-in', { body: { ...ann, password: 'wrong password' } })).status).toBe(401)
})

test('rejects a second account for an email address', async () => {
  const { ask, signUp } = await start()
  await signUp(ann)
  expect((await ask('/sign-up', { body: { ...ann, email: 'Ann@Acme.Test' } })).status).toBe(409)
})

test('locks an account after five failures', async () => {
  const { ask, signUp } = await start()
  await signUp(ann)
  for (let i = 0; i < 5; i++) await ask('/sign-in', { body: { ...ann, password: 'wrong password' } })
  expect((await ask('/sign-in', { body: ann })).status).toBe(429)
})

test('says what is wrong with the input', async () => {
  const { ask } = await start()
  const response = await ask('/sign-up', { body: { ...ann, password: 'short' } })
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: 'The password needs at least 10 characters.' },
  ])
})
