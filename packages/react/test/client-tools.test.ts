import { expect, test } from 'vitest'
import { agentOf, lines, listen, open, until } from './kit.ts'

const locate = {
  name: 'locate',
  description: 'Returns where the user is.',
  jsonSchema: { type: 'object' as const },
}

test('a tool of the page is pending, and the run continues with its result', async () => {
  const agent = agentOf([{ toolCalls: [{ name: 'locate', callId: 'c1', args: {} }] }, 'You are in Oslo.'])
  const chat = open(await listen(agent), { clientTools: [locate] })
  chat.store.send('Where am I?')
  await until(chat, 'suspended')
  expect(chat.state().pending).toMatchObject([{ callId: 'c1', name: 'locate', client: true }])
  chat.store.resume({ c1: { result: 'Oslo' } })
  await until(chat, 'idle')
  expect(lines(chat)[1]).toBe('assistant: [locate done] You are in Oslo.')
})

test('a tool of the page is still pending after a reload', async () => {
  const agent = agentOf([{ toolCalls: [{ name: 'locate', callId: 'c1', args: {} }] }, 'You are in Oslo.'])
  const url = await listen(agent)
  const before = open(url, { clientTools: [locate] })
  before.store.send('Where am I?')
  await until(before, 'suspended')
  before.leave()
  const after = open(url, { clientTools: [locate] })
  await until(after, 'suspended')
  expect(after.state().pending).toMatchObject([{ callId: 'c1', client: true }])
  after.store.resume({ c1: { result: 'Oslo' } })
  await until(after, 'idle')
  expect(lines(after)[1]).toBe('assistant: [locate done] You are in Oslo.')
})
