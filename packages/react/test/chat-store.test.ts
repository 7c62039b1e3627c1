import { expect, test } from 'vitest'
import { agentOf, lines, listen, open, until } from './kit.ts'

test('an input is shown at once, and its answer as it is streamed', async () => {
  const chat = open(await listen(agentOf(['Hello, Ann.'])))
  void chat.store.send('Hi')
  await until(chat, 'idle')
  await expect.poll(() => lines(chat)).toEqual(['user: Hi', 'assistant: Hello, Ann.'])
})

test('inputs typed during a run are queued, and sent in order', async () => {
  const chat = open(await listen(agentOf(['One.', 'Two.', 'Three.'])))
  for (const text of ['a', 'b', 'c']) void chat.store.send(text)
  expect(chat.state().queue.map(({ input }) => input)).toEqual(['a', 'b', 'c'])
  await expect
    .poll(() => lines(chat))
    .toEqual(['user: a', 'assistant: One.', 'user: b', 'assistant: Two.', 'user: c', 'assistant: Three.'])
  expect(chat.state().queue).toEqual([])
})
