import { AlliumError } from '@allium/core'
import { expect, it } from 'vitest'
import type { Entry } from '../../src/event-log/entry.ts'
import { Inbox } from '../../src/event-log/inbox.ts'

const run = { key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }, turnId: 't' }
const step = { type: 'step:start', sessionId: 'chat', turnId: 't', stepIndex: 2 } as const
const delivered = { type: 'steer:delivered', sessionId: 'chat', turnId: 't', stepIndex: 2, id: 'm1' } as const

function inbox() {
  const pushed: Entry[] = []
  return { pushed, inbox: new Inbox(run, (entry) => pushed.push(entry)) }
}

it('rejects a message once, at the step that the run has reached', () => {
  const { pushed, inbox: of } = inbox()
  of.observe(step)
  of.observe({ ...step, stepIndex: 7, path: ['researcher'] })
  of.reject('m1')
  of.reject('m1')
  expect(pushed).toEqual([
    {
      event: {
        ...{ type: 'steer:rejected', sessionId: 'chat', turnId: 't', stepIndex: 2, id: 'm1' },
        reason: 'The turn had its answer.',
      },
    },
  ])
})

it('adds nothing about a message whose outcome the run has reported', () => {
  const { pushed, inbox: of } = inbox()
  of.observe(delivered)
  of.reject('m1')
  expect(pushed).toEqual([])
})

it('rejects a message that the run refuses, and shows no error text that may hold a secret', async () => {
  const { pushed, inbox: of } = inbox()
  const refusing = (error: Error) => ({ steer: () => Promise.reject(error) })
  await of.deliver(refusing(new AlliumError('run.not_running', 'The run has ended.')), { steer: 'Also', id: 'm1' })
  await of.deliver(refusing(new Error('key sk-1234 is wrong')), { steer: 'Also', id: 'm2' })
  expect(pushed.map(({ event }) => (event as { reason?: unknown }).reason)).toEqual([
    'The run has ended.',
    'A layer that checked it failed.',
  ])
})
