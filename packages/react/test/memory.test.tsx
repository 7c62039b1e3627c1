import { memory } from '@allium/server/memory'
import { createMemoryClient } from '@allium/server/memory-client'
import { memoryStore } from '@allium/store'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { MemoryStore, useMemory } from '../src/memory.ts'
import { agentOf, listen } from './kit.ts'

const profile = { schema: z.object({ name: z.string().optional() }) }

async function remembered() {
  const { passages, ...sessions } = memoryStore()
  const url = await listen(agentOf([]), { sessions, memory: memory({ passages, blocks: [profile] }) })
  const client = createMemoryClient({ url, backoff: async () => {} })
  return { client, passages, store: new MemoryStore(client) }
}

test('the memory of a person is loaded, switched and corrected', async () => {
  const { store } = await remembered()
  expect(await store.reload()).toBe(true)
  expect(store.getSnapshot()).toMatchObject({ memory: { on: true }, passages: [], hasMore: false, isBusy: false })
  expect(await store.edit('memory:working', { set: { name: 'Ann' } })).toBe(true)
  expect(store.getSnapshot().memory?.blocks).toMatchObject([{ version: 1, block: { name: 'Ann' } }])
  expect(await store.setOn(false)).toBe(true)
  expect(store.getSnapshot().memory?.on).toBe(false)
})

test('a correction of a block that has changed meanwhile fails, and the newer block is shown', async () => {
  const { store, client } = await remembered()
  await store.reload()
  await client.edit('memory:working', { version: 0, set: { name: 'Anna' } })
  expect(await store.edit('memory:working', { set: { name: 'Ann' } })).toBe(false)
  const { error, memory: shown } = store.getSnapshot()
  expect([error, shown?.blocks[0]?.block]).toMatchObject([{ code: 'store.conflict' }, { name: 'Anna' }])
  expect(await store.edit('memory:working', { set: { name: 'Ann' } })).toBe(true)
  expect(store.getSnapshot().error).toBeUndefined()
})

test('listeners hear each change, and requests follow one another', async () => {
  const { store } = await remembered()
  const heard: (boolean | undefined)[] = []
  const leave = store.subscribe(() => heard.push(store.getSnapshot().memory?.on))
  await Promise.all([store.reload(), store.setOn(false), store.setOn(true)])
  leave()
  expect([...new Set(heard)]).toEqual([undefined, true, false])
  expect(heard.at(-1)).toBe(true)
})

test('the hook renders on a server, before anything is loaded', async () => {
  const { client } = await remembered()
  function Page() {
    const { memory: shown, isBusy } = useMemory({ client })
    return <p>{shown === undefined ? `nothing yet, ${isBusy}` : 'loaded'}</p>
  }
  expect(renderToString(<Page />)).toBe('<p>nothing yet, false</p>')
})
