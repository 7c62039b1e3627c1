import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { sqlite } from '../src/index.ts'

it('a session in a file goes back to a turn of another process, and on from there', async () => {
  const { sessions, close } = sqlite(':memory:')
  const process = (...answers: string[]) =>
    new Agent({ model: scriptedModel(answers) }).use(persist({ store: sessions })).session({ id: 'chat' })
  const first = process('A', 'B')
  const { turnId } = await first.run('a')
  await first.run('b')
  const later = process('C')
  await later.rewind({ to: turnId })
  await later.run('c')
  const stored = await sessions.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'chat' })
  expect([stored?.version, stored?.history.map(({ content }) => content)]).toEqual([4, ['a', 'A', 'c', 'C']])
  close()
})
