import type { AgentOptions, ToolExecution } from '@allium/core'
import { memoryStore } from '@allium/store'
import { memoryJournal } from '@allium/store/journal'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { Agent, delegate } from '../src/index.ts'
import * as observe from '../src/observe.ts'

type UsageRecord = observe.UsageRecord

const call: ScriptedStep = { toolCalls: [{ name: 'look', callId: 'c1', args: {} }] }
const stalls: ScriptedStep = { text: 'D', stall: true }
const tools = [{ name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }]

const asks: ScriptedStep = { toolCalls: [{ name: 'ask', callId: 'c1', args: {} }] }
/** Processes of one run that share a journal. Each is lost where its model stalls. Returns the usage records of the last one. */
const lives = (...scripts: ScriptedStep[][]) => livesOf((model) => ({ name: 'agent', model, tools }), scripts)

async function livesOf(
  optionsOf: (model: ScriptedModel) => AgentOptions,
  scripts: readonly ScriptedStep[][],
): Promise<UsageRecord[]> {
  let journal = memoryJournal()
  const layer = () => observe.usage({ record: true, prices: { 'a/model': { input: 1, output: 1 } } })
  for (const steps of scripts) {
    const sessions = memoryStore()
    const model = scriptedModel(steps, { id: 'a/model' })
    const agent = new Agent({ ...optionsOf(model), store: { sessions } }).use(layer())
    const run = agent.session({ id: 's' }).run('Hello', { turnId: 't', journal })
    const events = run[Symbol.asyncIterator]()
    for (;;) {
      const { value, done } = await events.next()
      if (done === true) return (await sessions.outbox.claim('bills', 100, 1000)).map(({ data }) => data as UsageRecord)
      if (isStalled(value) && steps.at(-1) === stalls) break
    }
    journal = journal.reopen()
  }
  return []
}

/** Whether the model of the run or of its sub-agent has begun the answer that stalls. */
const isStalled = (event: unknown) => {
  const { type, chunk } = (event ?? {}) as { type?: string; chunk?: object }
  const { delta } = ((type === 'model:chunk' ? chunk : event) ?? {}) as { delta?: string }
  return delta === 'D'
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

/** An agent that asks a sub-agent, which has the same model. */
function asksSubAgent(model: ScriptedModel, onInterrupted: 'retry' | 'fail' = 'retry'): AgentOptions {
  const child = new Agent({ name: 'child', model, tools })
  const execute = async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, child, 'Look.'))?.text
  return { name: 'agent', model, tools: [{ name: 'ask', description: 'Asks', jsonSchema: {}, onInterrupted, execute }] }
}

it.each([
  [
    'once',
    [
      [asks, stalls],
      [call, 'Seen.', 'Done.'],
    ],
    1,
  ],
  ['twice', [[asks, stalls], [stalls], [call, 'Seen.', 'Done.']], 2],
  ['before the sub-agent was recorded', [[asks, stalls], [call, 'Seen.', stalls], ['Done.']], 1],
  ['between calls that were recorded', [[asks, call, stalls], [stalls], ['Seen.', stalls], ['Done.']], 2],
])('records the calls of a sub-agent that a kill has cut: %s', async (_, scripts, count) => {
  const records = await livesOf((model) => asksSubAgent(model), scripts as ScriptedStep[][])
  const ofChild = records.filter(({ agent }) => agent === 'child').map(brief)
  expect(ofChild.filter(([, isCut]) => isCut)).toEqual(Array.from({ length: count }, () => lost))
  expect(ofChild.filter(([, isCut]) => !isCut)).toEqual([whole, whole])
})

it('records the calls of a sub-agent that is not run again', async () => {
  const records = await livesOf((model) => asksSubAgent(model, 'fail'), [[asks, call, stalls], [stalls], ['Done.']])
  const briefs = records.map((record) => [record.agent, ...brief(record)])
  expect(briefs.filter(([agent]) => agent === 'child')).toEqual([
    ['child', ...lost],
    ['child', ...lost],
  ])
  expect(briefs.filter(([agent]) => agent === 'agent')).toEqual([
    ['agent', ...whole],
    ['agent', ...lost],
    ['agent', ...whole],
  ])
})

it('records the calls of a sub-agent next to a recorded tool call whose id begins alike', async () => {
  const both: ScriptedStep = {
    toolCalls: [
      { name: 'look', callId: 'c1', args: {} },
      { name: 'ask', callId: 'c10', args: {} },
    ],
  }
  const optionsOf = (model: ScriptedModel): AgentOptions => {
    const { tools: asking = [], ...options } = asksSubAgent(model, 'fail')
    return { ...options, tools: [...tools, ...asking] }
  }
  const records = await livesOf(optionsOf, [[both, stalls], ['Done.']])
  expect(records.filter(({ agent }) => agent === 'child').map(brief)).toEqual([lost])
})
