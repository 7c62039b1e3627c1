import { expect, test } from 'vitest'
import { openAccounts } from '../src/accounts.ts'
import { canApprove } from '../src/can-approve.ts'
import type { Principal } from '../src/principal.ts'

const accounts = openAccounts()
const [dana, alex, hank] = [
  accounts.find('acme', 'dana'),
  accounts.find('acme', 'alex'),
  accounts.find('globex', 'hank'),
] as [Principal, Principal, Principal]
const askedBy = (userId: string) => ({ requestedBy: { userId } })

test('people approve their own refunds up to the limit of their plan, and no others', () => {
  const answers = [500, 500.01, '5', undefined, Number.NaN].map((amount) =>
    canApprove(dana, { args: { amount } }, askedBy('dana')),
  )
  expect(answers).toEqual([true, false, false, false, false])
  expect(canApprove(dana, { args: { amount: 1 } }, askedBy('alex'))).toBe(false)
  expect(canApprove(hank, { args: { amount: 1 } }, askedBy('hank'))).toBe(false)
})

test('an admin approves any refund of their company', () => {
  expect(canApprove(alex, { args: { amount: 9000 } }, askedBy('dana'))).toBe(true)
  expect(canApprove({ ...alex, administers: ['globex'] }, { args: { amount: 9000 } }, askedBy('dana'))).toBe(false)
})
