import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { callerOf } from '../src/ask.ts'
import { createDeskAgent } from '../src/desk-agent.ts'
import { serveA2A } from '../src/serve.ts'

const booking = () => [
  { text: 'Let me see. ', toolCalls: [{ name: 'book_room', args: { room: 'Onion', hour: 14 } }] },
  'It is yours.',
  'Next.',
]

async function served(steps: Parameters<typeof scriptedModel>[0]) {
  const model = scriptedModel(steps)
  const keys = new Map([
    ['key-of-ann', 'ann'],
    ['key-of-bob', 'bob'],
  ])
  const { url, close } = await serveA2A(createDeskAgent(model), keys)
  onTestFinished(close)
  return { url, model, ann: await callerOf(url, 'key-of-ann'), bob: await callerOf(url, 'key-of-bob') }
}

test('a task requests approval of a call, and its next message decides', async () => {
  const { ann, model } = await served(booking())
  const asked = await ann.ask('A room, please.')
  expect(asked).toMatchObject({ text: 'Let me see. ', said: 'May I? book_room {"room":"Onion","hour":14}' })
  expect(asked.states).toEqual(['working', 'input_required'])
  const done = await ann.ask('Yes.', asked)
  expect([done.text, done.states, done.taskId]).toEqual(['It is yours.', ['working', 'completed'], asked.taskId])
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Onion is booked for 14:00.')
})

test('any message other than "yes" denies, and is the reason', async () => {
  const { ann, model } = await served(booking())
  await ann.ask('Not that one.', await ann.ask('A room, please.'))
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Not that one.')
})

test('a context is a session of the caller only', async () => {
  const { ann, bob, model } = await served(['One.', 'Two.', 'Three.'])
  const { contextId } = await ann.ask('First')
  await ann.ask('Second', { contextId })
  await bob.ask('Mine?', { contextId })
  expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 1])
})

test('a task that is canceled stops its run', async () => {
  const { ann, model } = await served([{ text: 'One', stall: true }])
  let id = ''
  const asked = ann.ask('Go on for ever.', {}, ({ taskId, text }) => {
    if (text !== '' && id === '') void ann.cancel((id = taskId))
  })
  expect((await asked).states.at(-1)).toBe('canceled')
  expect(model.requests[0]?.signal?.aborted).toBe(true)
})

test('unauthenticated callers are rejected, and errors contain no details', async () => {
  const { url, ann } = await served([{ error: new Error('key sk-123 is wrong') }])
  expect((await fetch(`${url}/a2a`, { method: 'POST' })).status).toBe(401)
  await expect((await callerOf(url, 'none')).ask('Hi')).rejects.toThrow()
  expect(await ann.ask('Hi')).toMatchObject({ said: 'The agent has failed.', states: ['working', 'failed'] })
})
