import { Agent } from '@allium/core'
import { memoryStore } from '@allium/store'
import { memoryJournal } from '@allium/store/journal'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { persist } from '../src/index.ts'

const call: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1' }] }

/** Processes on one store: each has a clock of its own, which stands still, so that none renews its lease. */
function world() {
  const clock = manualClock()
  const store = memoryStore({ clock })
  const paid: string[] = []
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => paid.push('paid') }
  const session = (steps: readonly ScriptedStep[]) =>
    new Agent({ model: scriptedModel(steps), tools: [pay], clock: manualClock() })
      .use(persist({ store, lease: 1000 }))
      .session({ id: 'chat' })
  return { clock, store, paid, session }
}

it('answers a run that was stored, and not acknowledged, from the store, by its id', async () => {
  const { paid, session } = world()
  await session([call, 'Paid.']).run('Pay.', { turnId: 't' })
  const { text, turnId } = await session([]).run('Pay.', { turnId: 't' })
  expect([text, turnId, paid]).toEqual(['Paid.', 't', ['paid']])
  const other = await session([])
    .run('Pay twice.', { turnId: 't' })
    .then(undefined, (error) => error)
  expect(other).toMatchObject({ code: 'run.key_reused', details: { turnId: 't' } })
})

it('goes on with a run whose process was lost, from its journal, and marks nothing as interrupted', async () => {
  const { clock, store, paid, session } = world()
  const journal = memoryJournal()
  const dead = journal.killAfter(3)
  void session([call]).run('Pay.', { turnId: 't', journal })
  await dead
  await clock.advance(1500)
  const again = session(['Paid.'])
  const { text } = await again.run('Pay.', { turnId: 't', journal: journal.reopen() })
  const stored = await store.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'chat' })
  expect([text, paid, stored?.version, stored?.open]).toEqual(['Paid.', ['paid'], 1, undefined])
  expect(stored?.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
})
