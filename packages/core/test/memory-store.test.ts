import { expect, it } from 'vitest'
import { memoryStore } from '../src/index.ts'

it.each(['', '{', 'null', '[]', '[1]', '["a","b"]'])('a cursor that no page had is refused: %j', async (cursor) => {
  const store = memoryStore()
  const of = { tenant: 'acme', cursor, limit: 1 }
  await expect(store.list(of)).rejects.toMatchObject({ code: 'store.key' })
  await expect(store.waiting(of)).rejects.toMatchObject({ code: 'store.key' })
})
