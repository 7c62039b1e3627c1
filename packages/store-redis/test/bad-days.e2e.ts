import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '@allium/core'
import { rateLimit } from '@allium/guard'
import { scriptedModel } from '@allium/testing'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { redis } from '../src/index.ts'
import { aes } from './aes.ts'
import { ownServer } from './server.ts'

const server = await ownServer()
const url = server?.url ?? ''
const client = new Redis(url, { lazyConnect: true })
const logger = { warn() {}, error() {} }
afterAll(async () => {
  client.disconnect()
  await server?.end()
})

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const run = { key, turnId: 't' }

describe.skipIf(server === undefined)('redis() on bad days', () => {
  it('has nothing after a flush, and goes on: caches are empty, windows begin anew, money is forgotten', async () => {
    const store = redis(client, { logger })
    const agent = new Agent({ model: scriptedModel(['One.', 'Two.']) }).use(
      rateLimit({ limit: 1, window: 'hour', store: store.limits }),
    )
    const session = agent.session({ id: 'limited' })
    const texts = async () => (await session.run('Hi')).status
    await store.keyValue.set('cached', 1)
    const held = await store.ledger.reserve({ id: 'a', account: 'acme', amount: 1, limit: 1 })
    expect([await texts(), await texts()]).toEqual(['completed', 'blocked'])
    await client.flushall()
    expect([await store.keyValue.get('cached'), await texts()]).toEqual([undefined, 'completed'])
    if (held !== undefined) await store.ledger.settle(held, 1)
    expect(await store.ledger.balance('acme')).toEqual({ spent: 0, reserved: 0 })
  })

  it('lets readers go after a flush, and gives nobody a run with a gap', async () => {
    const store = redis(client)
    await store.events.append(run, 1, ['one', 'two'])
    const reader = store.events.read(run, 0)
    expect([(await reader.next()).value?.event, (await reader.next()).value?.event]).toEqual(['one', 'two'])
    const next = reader.next()
    await client.flushall()
    expect((await next).done).toBe(true)
    expect(await store.events.append(run, 1, ['three'])).toEqual({ seq: 3 })
    expect(await store.events.append(run, 1, ['four'], { end: true })).toEqual({ seq: 4 })
    expect([await store.events.latest(key), await store.events.signal(run, { stop: true })]).toEqual([undefined, false])
    expect((await store.events.read(run, 0).next()).done).toBe(true)
  })

  it('forgets the rest of a run of which Redis has lost the last events', async () => {
    const store = redis(client)
    await store.events.append(run, 1, ['one'])
    await store.events.append(run, 1, ['two'])
    const [name = ''] = (await client.keys('*')).filter((one) => one.endsWith(':t:run'))
    await client.hset(name, 'seq', 1)
    await store.events.append(run, 1, ['three'])
    expect(await store.events.latest(key)).toBe(undefined)
  })

  it('counts windows by the millisecond, and gives each tenant its own', async () => {
    const limiter = redis(client).limits({ keyPrefix: 'guard:rateLimit', points: 1, duration: 1.2 })
    await limiter.consume('["tenant","acme"]')
    await expect(limiter.consume('["tenant","acme"]')).rejects.toMatchObject({ remainingPoints: 0 })
    await limiter.consume('["tenant","globex"]')
    await sleep(1300)
    await limiter.consume('["tenant","acme"]')
  })

  it('keeps nothing readable of what is said where it encrypts, and lets all go in time', async () => {
    await client.flushall()
    const store = redis(client, { encrypt: aes(), eventRetention: 50 })
    await store.keyValue.set('k', 'canary', 50)
    await store.events.append(run, 1, ['canary'])
    await store.events.signal(run, { steer: 'canary', id: '1' })
    const names = await client.keys('*')
    const dumps = await Promise.all(names.map((name) => client.dumpBuffer(name)))
    expect(names.length).toBeGreaterThan(4)
    expect(dumps.some((dump) => dump?.includes('canary'))).toBe(false)
    await store.events.append(run, 1, [], { end: true })
    await store.events.append(run, 1, [], { end: true })
    await sleep(120)
    expect(await client.keys('*')).toEqual([])
  })
})
