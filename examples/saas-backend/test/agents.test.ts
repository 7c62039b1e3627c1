import type { UIMessage } from 'ai'
import { expect, test } from 'vitest'
import { firstAgents, lastAgent, startOf } from '../web/chat/agents.ts'

const asked = (id: string): UIMessage => ({ id, role: 'user', parts: [{ type: 'text', text: 'Hi' }] })
const answer = (id: string, ...to: [agent: string, state?: string][]): UIMessage => ({
  id,
  role: 'assistant',
  parts: to.map(([agent, state = 'output-available']) => ({
    type: 'tool-handoff',
    toolCallId: `${id}-${agent}`,
    state,
    input: { to: agent },
    ...(state === 'output-available' ? { output: '' } : { errorText: '' }),
  })) as UIMessage['parts'],
})

test('an answer begins with the agent that the conversation was handed off to before it', () => {
  const messages = [asked('1'), answer('2', ['billing']), asked('3'), answer('4', ['support']), asked('5')]
  expect(firstAgents(messages, 'support')).toEqual(['support', 'support', 'billing', 'billing', 'support'])
  expect([lastAgent(messages), lastAgent(messages.slice(0, 3)), lastAgent([])]).toEqual([
    'support',
    'billing',
    undefined,
  ])
})

test('a handoff that failed, or has not happened yet, changes nothing', () => {
  const messages = [answer('1', ['billing', 'output-error']), answer('2', ['billing', 'input-available'])]
  expect([firstAgents(messages, 'support'), lastAgent(messages)]).toEqual([['support', 'support'], undefined])
})

test('without the first messages, the stored agent counts until a handoff shows that it was another one', () => {
  const loaded = { messages: [asked('1')], running: false }
  expect(startOf({ ...loaded, agent: 'billing' })).toBe('support')
  expect(startOf({ ...loaded, before: 9, agent: 'billing' })).toBe('billing')
  expect(startOf({ ...loaded, before: 9, agent: 'billing', messages: [answer('1', ['billing'])] })).toBeUndefined()
})
