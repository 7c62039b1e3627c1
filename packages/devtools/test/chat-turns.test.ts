import { Agent } from 'allium'
import { agentGroup, handoff } from 'allium/group'
import { scriptedModel } from 'allium/testing'
import { expect, test } from 'vitest'
import { chatTurns } from '../web/parts/chat-turns.ts'
import { callName } from '../web/store/call-name.ts'
import type { Conversation, StoredMessage, StoredTurn } from '../web/store/sessions.ts'
import { Trace } from '../web/store/trace.ts'

const user = (content: string): StoredMessage => ({ role: 'user', content })
const assistant = (content: string): StoredMessage => ({ role: 'assistant', content })
const stored = (turnId: string, status: string, messages: StoredMessage[]) =>
  ({ turnId, status, messages, skipped: 0, endedAt: 1 }) as StoredTurn
const shown = (...turns: StoredTurn[]) => chatTurns({ turns } as Conversation, [])

test('a fork shows the turns that it copied, and its first own turn can be edited with them', () => {
  const history = [user('a'), assistant('A'), user('b'), user('c'), assistant('B')]
  const turns = shown(stored('fork:1', 'closed', history), stored('t', 'completed', [user('d'), assistant('D')]))
  expect(turns.map(({ input, status }) => [input, status])).toEqual([
    ['a', 'copied'],
    ['b\nc', 'copied'],
    ['d', 'completed'],
  ])
  expect(turns.map(({ isStored }) => isStored)).toEqual([false, false, true])
  expect(turns.at(-1)?.previous).toBe('fork:1')
  expect(new Set(turns.map(({ turnId }) => turnId)).size).toBe(3)
})

test('a turn of an earlier visit shows the time, the tokens and the cost that were stored', () => {
  const usage = { inputTokens: 10, outputTokens: 5, calls: 1 }
  const turn = (turnId: string, sessionCost: number) => ({
    ...stored(turnId, 'completed', [user('a'), assistant('A')]),
    startedAt: 10,
    endedAt: 40,
    usage,
    sessionCost,
  })
  const turns = shown(turn('a', 0.5), turn('b', 0.75))
  expect(turns.map(({ duration, usage, usd }) => [duration, usage?.inputTokens, usd])).toEqual([
    [30, 10, 0.5],
    [30, 10, 0.25],
  ])
})

test('the closed turn of a session that was not forked is left out', () => {
  const turns = shown(stored('t', 'completed', [user('a'), assistant('A')]), stored('c', 'closed', []))
  expect(turns.map(({ turnId }) => turnId)).toEqual(['t'])
})

test('a run that is handed off shows a turn of each agent with its own events, and the input once', async () => {
  const to = { toolCalls: [{ name: 'handoff', args: { to: 'refunds', reason: 'Order 7' } }] }
  const of = { sessionGroup: 'desk' }
  const refunds = new Agent({ name: 'refunds', ...of, model: scriptedModel(['Refunded.']) }).use(handoff({ to: [] }))
  const triage = new Agent({ name: 'triage', ...of, model: scriptedModel([to]) }).use(
    handoff({ to: [{ agent: refunds as Agent, description: 'Refunds' }] }),
  )
  const at = { sessionId: 's', tenant: '', owner: 'ada' }
  const trace = new Trace()
  let run = ''
  for await (const event of agentGroup([triage, refunds]).session({ id: 's' }).run('Money back')) {
    const { turnId = run, type } = event as { turnId?: string; type: string }
    run ||= turnId
    const agent = turnId === run ? 'triage' : 'refunds'
    if (type === 'turn:start' || !trace.turns.has(turnId)) trace.add({ type: 'turn', turnId, agent, ...at } as never)
    trace.add({ type: 'event', turnId: run, ...at, event, at: 0 } as never)
  }
  const turns = chatTurns({ turns: [] as StoredTurn[] } as Conversation, [...trace.turns.values()])
  expect(turns.map(({ agent, status, reason }) => [agent, status, reason])).toEqual([
    ['triage', 'stopped', 'handed off to refunds: Order 7'],
    ['refunds', 'completed', undefined],
  ])
  expect(turns.map(({ answer }) => answer.flatMap((item) => (item.kind === 'text' ? item.text : [])))).toEqual([
    [],
    ['Refunded.'],
  ])
})

test('a call of a workflow has the name of its step, and other calls that of their tool', () => {
  expect(callName('step', 'load@1', { name: 'load' })).toBe('step load')
  expect(callName('approval', 'refund#2', { name: 'refund' })).toBe('approval refund#2')
  expect(callName('step', 'call_1', { name: 'load' })).toBe('step')
  expect(callName('refund', 'refund', { name: 'refund' })).toBe('refund')
})
