import { scriptedModel } from '@allium/testing'
import { expect, test } from 'vitest'
import { agentOf, gated, lines, listen, open, refund, refundStep, until } from './kit.ts'

test('an input is shown at once, and its answer as it is streamed', async () => {
  const { model, text, end } = gated()
  const chat = open(await listen(agentOf([], { model })))
  await until(chat, 'idle')
  chat.store.send('Hi')
  expect(chat.state().messages).toMatchObject([{ role: 'user', status: 'sending' }])
  text('Hello, ')
  await expect.poll(() => lines(chat)).toEqual(['user: Hi', 'assistant: Hello, '])
  expect(chat.state().messages.map(({ status }) => status)).toEqual(['done', 'streaming'])
  text('Ann.')
  end()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: Hello, Ann.'])
})

test('inputs typed during a run are queued, and sent in order', async () => {
  const chat = open(await listen(agentOf(['One.', 'Two.', 'Three.'])))
  for (const text of ['a', 'b', 'c']) chat.store.send(text)
  expect(chat.state().queue.map(({ input }) => input)).toEqual(['a', 'b', 'c'])
  await expect
    .poll(() => lines(chat))
    .toEqual(['user: a', 'assistant: One.', 'user: b', 'assistant: Two.', 'user: c', 'assistant: Three.'])
  expect(chat.state().queue).toEqual([])
})

test('a queued input can be taken back', async () => {
  const { model, text, end } = gated()
  const chat = open(await listen(agentOf([], { model })))
  chat.store.send('Hi')
  text('One')
  await until(chat, 'streaming')
  chat.store.send('Never mind')
  expect(chat.store.removeQueued(chat.state().queue[0]!.id)).toBe('Never mind')
  end()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: One'])
})

test('an empty text is ignored', async () => {
  const chat = open(await listen(agentOf([])))
  chat.store.send('  ')
  await until(chat, 'idle')
  expect(chat.state()).toMatchObject({ messages: [], queue: [] })
})

test('a stopped run keeps its text, and queued inputs wait for retry()', async () => {
  const { model, text } = gated()
  const chat = open(await listen(agentOf([], { model })))
  chat.store.send('Hi')
  text('One')
  await until(chat, 'streaming')
  chat.store.send('More')
  await chat.store.stop()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: One'])
  expect(chat.state().messages.at(-1)?.status).toBe('stopped')
  chat.store.retry()
  await expect.poll(() => lines(chat).slice(2)).toEqual(['user: More', 'assistant: Next.'])
})

test('a call waits for its approval, with its arguments, and then runs once', async () => {
  const agent = agentOf([refundStep, 'Done.'], { tools: [refund] })
  const chat = open(await listen(agent))
  chat.store.send('Refund it.')
  await until(chat, 'suspended')
  expect(chat.state().pending).toMatchObject([{ callId: 'c1', name: 'refund', args: { cents: 500 } }])
  expect(lines(chat)).toEqual(['user: Refund it.', 'assistant: [refund pending]'])
  chat.store.approve(chat.state().pending[0]!)
  expect(lines(chat)[1]).toBe('assistant: [refund deciding]')
  await until(chat, 'idle')
  expect(lines(chat)[1]).toBe('assistant: [refund done] Done.')
})

test('a denied call tells the model why', async () => {
  const model = scriptedModel([refundStep, 'As you wish.'])
  const chat = open(await listen(agentOf([], { model, tools: [refund] })))
  chat.store.send('Refund it.')
  await until(chat, 'suspended')
  chat.store.deny(chat.state().pending[0]!, 'Too much.')
  await until(chat, 'idle')
  expect(lines(chat)[1]).toBe('assistant: [refund denied] As you wish.')
  expect(JSON.stringify(model.requests[1])).toContain('Too much.')
})

test('inputs wait while a call is pending', async () => {
  const chat = open(await listen(agentOf([refundStep, 'Done.', 'Next.'], { tools: [refund] })))
  chat.store.send('Refund it.')
  chat.store.send('And then?')
  await until(chat, 'suspended')
  expect(chat.state().queue).toMatchObject([{ input: 'And then?' }])
  chat.store.approve(chat.state().pending[0]!)
  await expect.poll(() => lines(chat).at(-1)).toBe('assistant: Next.')
})

test('a message to the active run is shown where it was delivered', async () => {
  const { model, text, end } = gated()
  const chat = open(await listen(agentOf([], { model })))
  chat.store.send('Hi')
  text('One.')
  await until(chat, 'streaming')
  await chat.store.steer('In French, please.')
  expect(chat.state().queue).toMatchObject([{ mode: 'steer' }])
  end()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: One. (steer) Next.'])
  expect(chat.state().messages[1]?.parts[1]).toMatchObject({ type: 'steer', text: 'In French, please.' })
})

test('a message that the run cannot receive becomes the next input', async () => {
  const { model, text, end } = gated()
  const chat = open(await listen(agentOf([], { model, maxSteps: 1 })))
  chat.store.send('Hi')
  text('One.')
  await until(chat, 'streaming')
  await chat.store.steer('One more thing.')
  end()
  await expect
    .poll(() => lines(chat))
    .toEqual(['user: Hi', 'assistant: One.', 'user: One more thing.', 'assistant: Next.'])
})
