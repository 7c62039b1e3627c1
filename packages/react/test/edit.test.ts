import { defineTool } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, test } from 'vitest'
import { agentOf, gated, lines, listen, memoryStorage, open, until } from './kit.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'Paid.',
})

async function conversation(answers: string[], inputs: string[]) {
  const model = scriptedModel(answers)
  const url = await listen(agentOf([], { model }))
  const chat = open(url)
  for (const input of inputs) {
    chat.store.send(input)
    await until(chat, 'idle')
    await expect.poll(() => lines(chat).at(-1)).toMatch(/^assistant: ./)
  }
  const idOf = (index: number) => chat.state().messages[index]?.id as string
  return { url, chat, model, idOf }
}

test('edit() replaces a message and everything after it, here and after a reload', async () => {
  const { url, chat, model, idOf } = await conversation(['One.', 'Two.', 'Three.'], ['secret', 'more'])
  chat.store.edit(idOf(0), 'edited')
  await expect.poll(() => lines(chat)).toEqual(['user: edited', 'assistant: Three.'])
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('secret')
  const reloaded = open(url)
  await expect.poll(() => lines(reloaded)).toEqual(['user: edited', 'assistant: Three.'])
  expect(reloaded.state().messages[0]?.id).toBe(idOf(0))
})

test('regenerate() answers the last message again, without its former answer', async () => {
  const { chat, model } = await conversation(['One.', 'Two.', 'Three.'], ['first', 'second'])
  chat.store.regenerate()
  await expect.poll(() => lines(chat)).toEqual(['user: first', 'assistant: One.', 'user: second', 'assistant: Three.'])
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('Two.')
})

test('an edit while an answer is streamed waits for its end, and is shown at its place', async () => {
  const { model, text, end } = gated()
  const chat = open(await listen(agentOf([], { model })))
  chat.store.send('first')
  text('One')
  await until(chat, 'streaming')
  chat.store.edit(chat.state().messages[0]?.id as string, 'edited')
  expect(chat.state().queue).toHaveLength(1)
  end()
  await expect.poll(() => lines(chat)).toEqual(['user: edited', 'assistant: Next.'])
})

test('an edit discards a call that waits for approval', async () => {
  const chat = open(await listen(agentOf([{ toolCalls: [{ name: 'pay' }] }, 'Two.'], { tools: [pay] })))
  chat.store.send('Pay.')
  await until(chat, 'suspended')
  chat.store.edit(chat.state().messages[0]?.id as string, 'Do not pay.')
  await expect.poll(() => lines(chat)).toEqual(['user: Do not pay.', 'assistant: Two.'])
  expect(chat.state().pending).toEqual([])
})

test('an edit that the server refuses stays as unsent, and taking it back shows the message again', async () => {
  const url = await listen(agentOf(['One.', 'Two.']), { edits: 'reject' })
  const chat = open(url, { storage: memoryStorage() })
  chat.store.send('first')
  await expect.poll(() => lines(chat)).toEqual(['user: first', 'assistant: One.'])
  const id = chat.state().messages[0]?.id as string
  chat.store.edit(id, 'edited')
  await until(chat, 'failed')
  expect(chat.state().messages).toMatchObject([{ id, status: 'unsent', parts: [{ text: 'edited' }] }])
  expect(chat.store.removeQueued(id)).toBe('edited')
  expect(lines(chat)).toEqual(['user: first', 'assistant: One.'])
})
