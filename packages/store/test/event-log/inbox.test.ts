import { AlliumError } from '@allium/core'
import { expect, it } from 'vitest'
import type { Entry } from '../../src/event-log/entry.ts'
import { Inbox } from '../../src/event-log/inbox.ts'

const run = { key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }, turnId: 't' }
const step = { type: 'step:start', sessionId: 'chat', turnId: 't', stepIndex: 2 } as const
const heard = { type: 'steer:delivered', sessionId: 'chat', turnId: 't', stepIndex: 2, id: 'm1' } as const

function inbox() {
  const told: Entry[] = []
  return { told, inbox: new Inbox(run, (entry) => told.push(entry)) }
}

it('gives a message back once, at the step at which the run stands', () => {
  const { told, inbox: of } = inbox()
  of.sees(step)
  of.sees({ ...step, stepIndex: 7, path: ['researcher'] })
  of.giveBack('m1')
  of.giveBack('m1')
  expect(told).toEqual([
    {
      event: {
        ...{ type: 'steer:rejected', sessionId: 'chat', turnId: 't', stepIndex: 2, id: 'm1' },
        reason: 'The turn had its answer.',
      },
    },
  ])
})

it('tells nothing more of a message of which the run has told', () => {
  const { told, inbox: of } = inbox()
  of.sees(heard)
  of.giveBack('m1')
  expect(told).toEqual([])
})

it('gives back what the run refuses, with the reason that may be known', async () => {
  const { told, inbox: of } = inbox()
  const refusing = (error: Error) => ({ steer: () => Promise.reject(error) })
  await of.hear(refusing(new AlliumError('run.not_running', 'The run has ended.')), { steer: 'Also', id: 'm1' })
  await of.hear(refusing(new Error('key sk-1234 is wrong')), { steer: 'Also', id: 'm2' })
  expect(told.map(({ event }) => (event as { reason?: unknown }).reason)).toEqual([
    'The run has ended.',
    'A layer that checked it failed.',
  ])
})
