import { afterAll, describe, expect, it } from 'vitest'
import { type RedisStore, redis } from '../src/index.ts'
import { cuttingProxy } from './cutting-proxy.ts'
import { ownServer } from './server.ts'

const server = await ownServer()
const proxy = server && (await cuttingProxy(Number(new URL(server.url).port)))
afterAll(async () => {
  await proxy?.end()
  await server?.end()
})

const logger = { warn() {}, error() {} }
const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** A store behind the proxy, whose scripts the server knows already: their text is not sent again. */
async function behindProxy(warm: (store: RedisStore) => Promise<unknown>): Promise<RedisStore> {
  const store = redis(`redis://127.0.0.1:${proxy?.port}`, { prefix: crypto.randomUUID(), logger })
  await warm(store)
  return store
}

async function eventsOf(store: RedisStore, turnId: string): Promise<unknown[]> {
  const events: unknown[] = []
  for await (const { event } of store.events.read({ key, turnId }, 0)) events.push(event)
  return events
}

describe.skipIf(proxy === undefined)('redis(), when a reply is lost and the client sends the command again', () => {
  it('appends a batch once, and its end', async () => {
    const store = await behindProxy((store) => store.events.append({ key, turnId: 'warm' }, 1, ['x'], { end: true }))
    const run = { key, turnId: 'lost' }
    const before = proxy?.cuts ?? 0
    proxy?.cutAfter('evalsha')
    expect(await store.events.append(run, 1, ['Hello'])).toEqual({ seq: 1 })
    proxy?.cutAfter('evalsha')
    expect(await store.events.append(run, 1, [' world'], { end: true })).toEqual({ seq: 2 })
    expect([await eventsOf(store, 'lost'), (proxy?.cuts ?? 0) - before]).toEqual([['Hello', ' world'], 2])
    store.close()
  })

  it('ends a run without events once, and gives the steers that nobody has heard', async () => {
    const store = await behindProxy((store) => store.events.append({ key, turnId: 'warm' }, 1, [], { end: true }))
    const run = { key, turnId: 'steered' }
    await store.events.append(run, 1, [])
    await store.events.signal(run, { steer: 'wait', id: 'a' })
    proxy?.cutAfter('evalsha')
    expect(await store.events.append(run, 1, [], { end: true })).toEqual({ undelivered: [{ steer: 'wait', id: 'a' }] })
    proxy?.cutAfter('evalsha')
    expect(await store.events.append(run, 1, [], { end: true })).toEqual({ seq: 0 })
    store.close()
  })

  it('consumes the points of a limit once', async () => {
    const limit = (store: RedisStore) => store.limits({ keyPrefix: 'rate', points: 10, duration: 60 })
    const store = await behindProxy((store) => limit(store).consume('warm', 1))
    proxy?.cutAfter('evalsha')
    expect(await limit(store).consume('ann', 3)).toMatchObject({ consumedPoints: 3 })
    proxy?.cutAfter('evalsha')
    expect(await limit(store).reward('ann', 1)).toMatchObject({ consumedPoints: 2 })
    store.close()
  })

  it('reserves and settles once', async () => {
    const post = async ({ ledger }: RedisStore, id: string, between = () => {}) => {
      between()
      const held = await ledger.reserve({ id, account: 'acme', amount: 4, limit: 100, run: 'r' })
      between()
      if (held !== undefined) await ledger.settle(held, 3)
      return ledger.balance('acme')
    }
    const store = await behindProxy((store) => post(store, 'warm'))
    expect(await post(store, 'a', () => proxy?.cutAfter('evalsha'))).toEqual({ spent: 6, reserved: 0 })
    store.close()
  })
})
