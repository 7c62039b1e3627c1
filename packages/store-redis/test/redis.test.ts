import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { type RedisStore, redis } from '../src/index.ts'

/** A store at a port where nobody listens. */
function nobody(warned: string[] = []): RedisStore {
  const client = new Redis('redis://127.0.0.1:1', { lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return redis(client, { logger: { warn: (message) => void warned.push(message), error() {} } })
}
const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

it('says that its ledger is lossy, by a field and once to the logger when it is used', async () => {
  const warned: string[] = []
  const { ledger } = nobody(warned)
  expect([ledger.lossy, warned]).toEqual([true, []])
  for (let i = 0; i < 2; i++)
    await expect(ledger.reserve({ id: 'a', account: 'acme', amount: 1, limit: 2 })).rejects.toMatchObject({
      code: 'store.unavailable',
    })
  expect(warned).toEqual([expect.stringContaining('lossy')])
})

it('refuses an option that it does not have, before it connects', () => {
  expect(() => redis('redis://127.0.0.1:1', { ttl: 5 } as never)).toThrow('redis() does not know the option ttl.')
})

it('is unavailable where nobody listens, and once it is closed', async () => {
  const { keyValue, events } = nobody()
  await expect(keyValue.get('a')).rejects.toMatchObject({ code: 'store.unavailable' })
  await expect(events.append({ key, turnId: 't' }, 1, [])).rejects.toMatchObject({ code: 'store.unavailable' })
  await expect(events.read({ key, turnId: 't' }, 0).next()).rejects.toMatchObject({ code: 'store.unavailable' })
  const closed = redis('redis://127.0.0.1:1')
  closed.close()
  await expect(closed.keyValue.set('a', 1)).rejects.toThrow('The store is closed')
})

it('refuses what Redis would keep under another name, and amounts that are no money, before it asks', async () => {
  const { keyValue, ledger, events } = nobody()
  await expect(keyValue.get('a\ud800')).rejects.toMatchObject({ code: 'store.key' })
  await expect(events.latest({ ...key, tenant: 'a\0' })).rejects.toMatchObject({ code: 'store.key' })
  const asked = ledger.reserve({ id: 'a', account: 'acme', amount: Number.NaN, limit: 1 })
  await expect(asked).rejects.toMatchObject({ code: 'ledger.invalid' })
})
