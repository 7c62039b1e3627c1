import { expect, it, onTestFinished } from 'vitest'
import { type SqliteStore, sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'
import { plansOf } from './plans.ts'

const reservation = { account: 'acme', amount: 1, limit: 100 }

async function reserve({ ledger }: SqliteStore): Promise<void> {
  const by = (tenant: string, owner: string) => ({ tenant, owner, since: 0 })
  await ledger.reserve({ ...reservation, id: 'a', run: 'r1', by: by('acme', 'ann') })
  await ledger.reserve({ ...reservation, id: 'b', run: 'r2', by: by('acme', 'bob') })
  await ledger.reserve({ ...reservation, id: 'c', run: 'r3', by: by('globex', 'ann') })
  await ledger.reserve({ ...reservation, id: 'd', run: 'r4', by: by('acme', 'ann') })
  await ledger.settle({ ...reservation, id: 'd' }, 1)
}

it('erases an owner from the unsettled reservations, and no other owner', async () => {
  const path = fileIn()
  const store = sqlite(path)
  onTestFinished(() => store.close())
  await reserve(store)
  await store.sessions.erase({ tenant: 'acme', owner: 'ann' })
  const holds = await Promise.all(['r1', 'r2', 'r3', 'r4'].map((run) => store.ledger.holds?.(run)))
  const held = holds.map((found) => found?.length)
  expect(held).toEqual([0, 1, 1, 0])
  const owners = raw(path, (db) => db.prepare('select tenant, owner from holds order by tenant, owner').all())
  expect(owners.filter((row) => (row as { tenant: unknown }).tenant !== null)).toEqual([
    { tenant: 'acme', owner: 'bob' },
    { tenant: 'globex', owner: 'ann' },
  ])
  expect(store.ledger.balance('acme')).toEqual({ spent: 1, reserved: 3 })
})

it('reads only unsettled reservations of runs to erase an owner', async () => {
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} }
  const plans = await plansOf(fileIn(), clock, async (store) => {
    await reserve(store)
    await store.sessions.erase({ tenant: 'acme', owner: 'ann' })
  })
  const ofOwner = [...plans].find(([sql]) => sql.startsWith('update holds set names = null'))?.[1]
  expect(ofOwner).toContain('SEARCH holds USING INDEX holds_by_run')
  expect([...plans.values()].join('\n')).not.toContain('SCAN holds')
})
