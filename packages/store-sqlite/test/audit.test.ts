import { Agent, AlliumError } from '@allium/core'
import { audit, verify } from '@allium/observe'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { type Encryption, sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'

/** Turns of a tenant in a process of its own. */
async function turns(path: string, tenantId: string, count: number, encrypt?: Encryption): Promise<void> {
  const store = sqlite(path, { encrypt })
  const agent = new Agent({ model: scriptedModel(Array(count).fill('Hello.')) }).use(audit({ sink: store.audit }))
  for (let i = 0; i < count; i++) await agent.session({ principal: { tenantId } }).run('Hi')
  store.close()
}

/** XOR, which is enough to see that nothing reads on. */
const xor: Encryption = {
  seal: (bytes) => bytes.map((byte) => byte ^ 7),
  open: (bytes) => bytes.map((byte) => byte ^ 7),
}

it('keeps a chain of records for each tenant, on which several processes write at once', async () => {
  const path = fileIn()
  await Promise.all([turns(path, 'acme', 3), turns(path, 'globex', 2), turns(path, 'acme', 3)])
  const store = sqlite(path)
  const [acme, globex, none] = ['acme', 'globex', ''].map((tenant) => store.audit.chainOf(tenant))
  expect([await verify(acme ?? []), await verify(globex ?? []), await verify(none ?? [])]).toMatchObject([
    { ok: true, records: 6 * 4 },
    { ok: true, records: 2 * 4 },
    { ok: true, records: 0 },
  ])
  store.close()
})

it('keeps a record once, by its key, also where a process writes it again that had lost its place', async () => {
  const store = sqlite(fileIn())
  const chain = store.audit.chainOf('acme')
  const line = (seq: number) => JSON.stringify({ seq })
  expect(await chain.append(line(1), 'a')).toBeUndefined()
  expect(await chain.append(line(2), 'a')).toBe('known')
  expect(await chain.append(line(2), 'b')).toBeUndefined()
  await expect(chain.append(line(2), 'a')).rejects.toMatchObject({ code: 'store.conflict' })
  expect(await store.audit.chainOf('globex').append(line(1), 'a')).toBeUndefined()
  expect(await chain.last()).toBe(line(2))
  store.close()
})

it('appends several records, or none of them where it has one or another process has written', async () => {
  const store = sqlite(fileIn())
  const chain = store.audit.chainOf('acme')
  const records = (seqs: number[], keys: string) =>
    seqs.map((seq, i) => ({ line: JSON.stringify({ seq }), key: keys[i] }))
  expect(await chain.appendAll(records([1, 2], 'ab'))).toEqual([])
  expect(await chain.appendAll(records([3, 4, 5], 'cbd'))).toEqual(['b'])
  await expect(chain.appendAll(records([2, 3], 'cd'))).rejects.toMatchObject({ code: 'store.conflict' })
  await expect(chain.appendAll(records([3, 5], 'cd'))).rejects.toMatchObject({ code: 'store.conflict' })
  expect(await chain.appendAll(records([3, 4], 'cd'))).toEqual([])
  expect(await chain.verifySealed()).toEqual({ ok: true, records: 4 })
  store.close()
})

it('finds a record that was changed, and one that was taken away', async () => {
  for (const change of [
    "update audit set body = replace(cast(body as text), 'acme', 'evil') where seq = 2",
    'delete from audit where seq = 2',
  ]) {
    const path = fileIn()
    await turns(path, 'acme', 1)
    raw(path, (db) =>
      db.exec(change.replace('replace(cast', 'cast(replace(cast').replace("'evil')", "'evil') as blob)")),
    )
    const store = sqlite(path)
    expect(await verify(store.audit.chainOf('acme'))).toMatchObject({ ok: false, records: 1 })
    expect(await store.audit.chainOf('acme').verifySealed()).toEqual({ ok: false, records: 1 })
    store.close()
  }
})

it('verifies the sealed records of a tenant whose key is gone', async () => {
  const path = fileIn()
  await turns(path, 'acme', 2, xor)
  const gone: Encryption = { ...xor, open: () => Promise.reject(new AlliumError('store.sealed', 'No key.')) }
  const store = sqlite(path, { encrypt: gone })
  const chain = store.audit.chainOf('acme')
  expect(await chain.verifySealed()).toEqual({ ok: true, records: 8 })
  await expect(chain.last()).rejects.toMatchObject({ code: 'store.sealed' })
  store.close()
})
