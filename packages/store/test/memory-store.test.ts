import { expect, it, onTestFinished } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { memoryStore } from '../src/index.ts'

it.each(['', '{', 'null', '[]', '[1]', '["a","b"]'])('a cursor that no page had is refused: %j', async (cursor) => {
  const store = memoryStore()
  const of = { tenant: 'acme', cursor, limit: 1 }
  await expect(store.list(of)).rejects.toMatchObject({ code: 'store.key' })
  await expect(store.pendingCalls(of)).rejects.toMatchObject({ code: 'store.key' })
})

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const turn = {
  ...{ turnId: 't', rootId: 't', agent: 'agent', status: 'completed' as const, startedAt: 1, endedAt: 2 },
  ...{ usage: { inputTokens: 0, outputTokens: 0, calls: 1 }, answer: 'x', from: 0, messages: [], rest: { state: {} } },
  records: [{ id: 'r', topic: 'paid', data: 1, at: 1 }],
}
const day = 86_400_000

it.each([-40 * day, 40 * day])(
  'leases and outbox records keep their time when the clock is set by %i ms',
  async (jump) => {
    const steady = manualClock()
    let set = 0
    const clock = { now: () => steady.now() + set, monotonic: () => steady.monotonic(), after: steady.after }
    const { acquire, append, outbox } = memoryStore({ clock })
    const { lease } = await acquire(key, 10_000)
    if (lease !== undefined) await append(lease, 0, turn)
    set = jump
    const { heldUntil } = await acquire(key, 10_000)
    expect(heldUntil).toBe(clock.now() + 10_000)
    expect(await outbox.claim('bills', 1, 1)).toMatchObject([{ id: 'r' }])
    await steady.advance(29 * day)
    expect(await acquire(key, 10_000)).toHaveProperty('lease')
    expect(await outbox.claim('mails', 1, 1)).toMatchObject([{ id: 'r' }])
    await steady.advance(2 * day)
    expect(await outbox.claim('others', 1, 1)).toEqual([])
  },
)

it('uses the store that a development server puts in its place', () => {
  const key = Symbol.for('allium:memory-store')
  const replacement = memoryStore()
  Object.assign(globalThis, { [key]: () => replacement })
  onTestFinished(() => void Reflect.deleteProperty(globalThis, key))
  expect(memoryStore()).toBe(replacement)
})
