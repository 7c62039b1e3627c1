import { Agent, type Middleware } from '@allium/core'
import { memoryLedger } from '@allium/store'
import { memoryJournal } from '@allium/store/journal'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { budget } from '../src/index.ts'

const estimate = () => ({ inputTokens: 100, outputTokens: 50 })
const usage = { inputTokens: 4, outputTokens: 1 }
const answer: ScriptedStep = { text: 'Done.', usage }
const call: ScriptedStep = { toolCalls: [{ name: 'look', callId: 'c1', args: {} }], usage }
const stalls: ScriptedStep = { text: 'D', stall: true }
const tools = [{ name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }]

/** Processes of one run that share a journal and a ledger. Each is lost where its model stalls, or after it has posted a call. */
function processes() {
  const ledger = memoryLedger()
  let journal = memoryJournal()
  return async (steps: ScriptedStep[], { postsOnly = Number.POSITIVE_INFINITY, stop = false } = {}) => {
    let posted = 0
    let lose = () => {}
    const lost = new Promise<{ done: true; value?: undefined }>((resolve) => (lose = () => resolve({ done: true })))
    const settle: typeof ledger.settle = async (...of) => {
      await ledger.settle(...of)
      if (++posted < postsOnly) return
      lose()
      await new Promise(() => {})
    }
    const layer = budget({ limit: 1e6, unit: 'tokens', per: () => 'a', ledger: { ...ledger, settle }, estimate })
    const stops: Middleware = { name: 'stops', turn: (ctx, next) => (stop ? ctx.abort('stopped') : next()) }
    const session = new Agent({ model: scriptedModel(steps), tools }).use([layer, stops]).session({ id: 's' })
    const run = session.run('go', { turnId: 't', journal })
    run.catch(() => {})
    const cut: number[] = []
    const events = run[Symbol.asyncIterator]()
    for (;;) {
      const { value, done } = await Promise.race([lost, events.next()]).catch(() => ({ done: true, value: undefined }))
      if (value?.type === 'guard:budget:cut') cut.push(...value.calls.map(({ amount }) => amount))
      if (done === true || (value?.type === 'text-delta' && steps.at(-1) === stalls)) break
    }
    journal = journal.reopen()
    const spent = (session.state as Record<string, unknown>)['guard:budget:spent']
    return { cut, spent, ledger: await ledger.balance('a') }
  }
}

it('each process reports all calls that were cut before it', async () => {
  const life = processes()
  for (let i = 0; i < 3; i++) await life([stalls])
  expect(await life([answer])).toEqual({ cut: [150, 150, 150], spent: 455, ledger: { spent: 455, reserved: 0 } })
})

it('reports a cut call that an earlier process has posted before it was lost', async () => {
  const life = processes()
  await life([stalls])
  await life([answer], { postsOnly: 1 })
  expect(await life([answer])).toEqual({ cut: [150], spent: 155, ledger: { spent: 155, reserved: 0 } })
})

it('reports a cut call also where the call in its place is replayed', async () => {
  const life = processes()
  await life([stalls])
  await life([call, stalls])
  expect(await life([answer])).toEqual({ cut: [150, 150], spent: 310, ledger: { spent: 310, reserved: 0 } })
})

it('reports no call that was recorded and not yet posted', async () => {
  const life = processes()
  await life([call, stalls])
  await life([answer], { postsOnly: 1 })
  expect(await life([answer])).toMatchObject({ cut: [150], ledger: { spent: 160, reserved: 0 } })
})

it('posts and reports a cut call of a run that makes no further call', async () => {
  const life = processes()
  await life([stalls])
  expect(await life([answer], { stop: true })).toMatchObject({ cut: [150], ledger: { spent: 150, reserved: 0 } })
})
