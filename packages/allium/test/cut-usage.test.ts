import { memoryJournal, memoryStore } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { Agent, observe } from '../src/index.ts'

type UsageRecord = observe.UsageRecord

const call: ScriptedStep = { toolCalls: [{ name: 'look', callId: 'c1', args: {} }] }
const stalls: ScriptedStep = { text: 'D', stall: true }
const tools = [{ name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }]

/** Processes of one run that share a journal. Each is lost where its model stalls. Returns the usage records of the last one. */
async function lives(...scripts: ScriptedStep[][]): Promise<UsageRecord[]> {
  let journal = memoryJournal()
  const layer = () => observe.usage({ record: true, prices: { 'a/model': { input: 1, output: 1 } } })
  for (const steps of scripts) {
    const sessions = memoryStore()
    const model = scriptedModel(steps, { id: 'a/model' })
    const agent = new Agent({ name: 'agent', model, tools, store: { sessions } }).use(layer())
    const run = agent.session({ id: 's' }).run('Hello', { turnId: 't', journal })
    const events = run[Symbol.asyncIterator]()
    for (;;) {
      const { value, done } = await events.next()
      if (done === true) return (await sessions.outbox.claim('bills', 100, 1000)).map(({ data }) => data as UsageRecord)
      if (value?.type === 'text-delta' && steps.at(-1) === stalls) break
    }
    journal = journal.reopen()
  }
  return []
}

const brief = ({ usage, cut }: UsageRecord) => [usage.calls, cut === true, usage.estimated ?? false]
const whole = [1, false, false]
const lost = [1, true, true]

it('records each call that a kill has cut, with its input as an estimate', async () => {
  const records = await lives([stalls], [stalls], ['Done.'])
  expect(records.map(brief)).toEqual([lost, lost, whole])
  const [{ usage, cost }] = records as [UsageRecord]
  expect([usage.inputTokens > 0, usage.outputTokens, cost]).toEqual([true, 0, usage.inputTokens / 1e6])
})

it('records a cut call also where the call in its place is replayed', async () => {
  expect((await lives([stalls], [call, stalls], ['Done.'])).map(brief)).toEqual([lost, whole, lost, whole])
})

it('records no cut call for calls that were recorded, however often they are replayed', async () => {
  const records = await lives([call, stalls], [stalls], ['Done.'])
  expect(records.map(brief)).toEqual([whole, lost, lost, whole])
})
