import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryStore } from '@allium/store'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'

const principal = { tenantId: 'acme', userId: 'ann' }

it('gives a session back whose store failed after it was taken', async () => {
  const sessions = memoryStore({ clock: manualClock() })
  const down = { ...sessions, find: () => Promise.reject(new Error('down')) }
  const on = (store: typeof sessions) =>
    new Agent({ model: scriptedModel(['Yes.']), clock: manualClock() })
      .use(persist({ store }))
      .session({ id: 's', principal })
  await expect(on(down).run('Hello', { idempotencyKey: 'k' })).rejects.toThrow('down')
  expect((await on(sessions).run('Hello')).text).toBe('Yes.')
})
