import { expect, test } from 'vitest'
import { identityOf } from '../web/store/sessions.ts'

const ann = { tenantId: 'acme', userId: 'ann', email: 'ann@acme.test' }

test('a session is read with the whole principal, if that is its owner', () => {
  const identity = { principal: ann, context: { plan: 'gold' } }
  expect(identityOf({ id: 's', tenant: 'acme', owner: 'ann' }, [], identity)).toEqual(identity)
  const named = { principal: { tenant: 'acme', user: 'ann' } }
  expect(identityOf({ id: 's', tenant: 'acme', owner: 'ann' }, [], named)).toEqual(named)
})

test('a session of another owner keeps the other fields of the principal, which its schema may need', () => {
  const { principal } = identityOf({ id: 's', tenant: '', owner: 'bob' }, [], { principal: ann })
  expect(principal).toEqual({ userId: 'bob', email: 'ann@acme.test' })
})
