import { expect, test } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import { Agent } from '../src/index.ts'

test('a session tells the key under which it is kept, before it is opened', () => {
  const agent = new Agent({ model: scriptedModel([]), owner: (principal) => (principal as { team?: string }).team })
  const principal = { tenantId: 'acme', userId: 'ann', team: 'sales' }
  expect(agent.session({ id: 'a', principal }).key).toEqual({
    tenant: 'acme',
    owner: 'sales',
    agent: 'agent',
    sessionId: 'a',
  })
  const alone = new Agent({ model: scriptedModel([]) })
  expect(alone.session({ id: 'a', principal }).key).toEqual({
    tenant: 'acme',
    owner: 'ann',
    agent: 'agent',
    sessionId: 'a',
  })
  expect(alone.session({ id: 'a' }).key).toEqual({ tenant: '', owner: '', agent: 'agent', sessionId: 'a' })
})
