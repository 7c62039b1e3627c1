import assert from 'node:assert/strict'
import { Agent, delegate, type Message, type StreamEvent, type ToolExecution } from '@allium/core'
import { expect, it } from 'vitest'
import { calledTools, historyProblems, leaks, runEnd, scriptedModel, sentTexts, streamedText } from '../../src/index.ts'
import { matchesPartially } from '../../src/matchers/matches-partially.ts'

it('the comparisons are plain functions, for any test runner', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'add', args: { a: 1 } }] }, 'It is 1.'])
  const add = { name: 'add', description: 'Adds', jsonSchema: { type: 'object' }, execute: () => 1 }
  const session = new Agent({ model, tools: [add] }).session()
  const events = []
  const run = session.run('1?')
  for await (const event of run) events.push(event)
  const result = await run
  assert.deepEqual(calledTools(result), [{ callId: 'call-1', name: 'add', args: { a: 1 }, status: 'ok' }])
  assert.deepEqual(calledTools(events), calledTools(session.history))
  assert.equal(streamedText(events), 'It is 1.')
  assert.deepEqual(sentTexts(model), [['1?'], ['1?', '{"a":1}', '1']])
  assert.deepEqual(runEnd(events), { status: 'completed', reason: undefined })
  assert.deepEqual(historyProblems(session), [])
  assert.deepEqual(leaks({ result, events }, 'secret'), [])
})

it('tells a call that waits and one that failed, by its history', () => {
  const history: Message[] = [
    { role: 'assistant', content: ['a', 'b'].map((callId) => ({ type: 'tool-call', callId, name: 't', args: {} })) },
    { role: 'tool', content: [{ type: 'tool-result', callId: 'a', name: 't', content: 'no', isError: true }] },
  ]
  expect(calledTools(history).map(({ status }) => status)).toEqual(['error', undefined])
})

it.each([
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, true],
  [{ a: [1, { b: 2, c: 3 }] }, { a: [1, { b: 2 }] }, true],
  [{ a: [1, 2] }, { a: [1] }, false],
  [{ a: new Date(0) }, { a: new Date(1) }, false],
  [{ a: null }, { a: {} }, false],
  [{ a: 'x1' }, { a: /\d/ }, true],
  [{ a: Number.NaN }, { a: Number.NaN }, true],
])('%j has all of %j: %s', (actual, expected, answer) => {
  expect(matchesPartially(actual, expected)).toBe(answer)
})

it('a sub-agent is not the run: its text, calls and end do not count, but a secret in its chunks is found', async () => {
  const add = { name: 'add', description: 'Adds', jsonSchema: { type: 'object' }, execute: () => 1 }
  const child = new Agent({ model: scriptedModel([{ toolCalls: [{ name: 'add' }] }, 'sec ret']), tools: [add] })
  const ask = {
    name: 'ask',
    description: 'Asks another agent',
    jsonSchema: { type: 'object' },
    execute: async (_: object, ctx: ToolExecution) => (await delegate(ctx, child, 'go'))?.toolCalls.length,
  }
  const run = new Agent({ model: scriptedModel([{ toolCalls: [{ name: 'ask' }] }, 'Done.']), tools: [ask] }).run('go')
  const events: StreamEvent[] = []
  for await (const event of run) events.push(event as StreamEvent)
  expect(events.filter((event) => 'path' in event).map(({ type }) => type)).toContain('model:chunk')
  expect(streamedText(events)).toBe('Done.')
  expect(calledTools(events)).toEqual(calledTools(await run))
  expect(() => runEnd(events.filter((event) => 'path' in event))).toThrow('with a turn:end')
  expect(leaks(events, 'sec ret')).toEqual([' (over several text-delta)'.trim()])
})
