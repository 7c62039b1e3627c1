import { afterAll, describe, expect, it } from 'vitest'
import { redis } from '../src/index.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
afterAll(() => server?.end())

const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat-1' }

describe.skipIf(server === undefined)('rejecting a late write after an erasure', () => {
  it('keeps the newer runs of the session listed, so the next erasure deletes them', async () => {
    const { events, close } = redis(server?.url ?? '', { prefix: `test:${crypto.randomUUID()}` })
    const [old, fresh] = [
      { key, turnId: 'old' },
      { key, turnId: 'fresh' },
    ]
    const ann = { tenant: 'acme', owner: 'ann' }
    const by = { ...ann, since: Date.now() - 60_000 }
    await events.delete(ann)
    await events.append(fresh, 1, [{ text: 'Hello' }])
    await expect(events.append(old, 1, [{ text: 'Late' }], { by })).rejects.toMatchObject({ code: 'store.fenced' })
    expect((await events.latest(key))?.turnId).toBe('fresh')
    await events.delete(ann)
    expect(await events.latest(key)).toBeUndefined()
    const read: unknown[] = []
    for await (const event of events.read(fresh, 0, AbortSignal.abort())) read.push(event)
    expect(read).toEqual([])
    close()
  })
})
