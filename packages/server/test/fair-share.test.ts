import { isAlliumError } from '@allium/core'
import { expect, test } from 'vitest'
import { FairShare } from '../src/http/fair-share.ts'

const ann = { tenant: 'acme', owner: 'ann' }
const bob = { tenant: 'acme', owner: 'bob' }
const eve = { tenant: 'evil', owner: 'eve' }

const share = (total: number, perTenant = total, perUser = perTenant) =>
  new FairShare('things', { total, perTenant, perUser })

function codeOf(take: () => unknown): string {
  try {
    take()
    return 'taken'
  } catch (error) {
    return isAlliumError(error) ? error.code : String(error)
  }
}

test('a user who holds their share is refused, and other users are not', () => {
  const things = share(10, 10, 2)
  const [first] = [things.acquire(ann), things.acquire(ann)]
  expect([codeOf(() => things.acquire(ann)), codeOf(() => things.acquire(bob))]).toEqual(['server.limit', 'taken'])
  first.release()
  first.release()
  expect([codeOf(() => things.acquire(ann)), codeOf(() => things.acquire(ann))]).toEqual(['taken', 'server.limit'])
})

test('a tenant whose users hold its share is refused, and other tenants are not', () => {
  const things = share(10, 2)
  things.acquire(ann)
  things.acquire(bob)
  expect([codeOf(() => things.acquire(bob)), codeOf(() => things.acquire(eve))]).toEqual(['server.limit', 'taken'])
})

test('a full process refuses everybody, as one that is full', () => {
  const things = share(2)
  things.acquire(ann)
  things.acquire(eve)
  expect(codeOf(() => things.acquire(bob))).toBe('server.full')
})

test('a user who is over takes the place of their own idlest one', () => {
  const things = share(10, 10, 2)
  const gone: string[] = []
  const first = things.acquire(ann, () => gone.push('first'))
  things.acquire(ann, () => gone.push('second'))
  first.touch()
  things.acquire(ann, () => gone.push('third'))
  expect([gone, things.inUse]).toEqual([['second'], 2])
})

test('where a tenant or the process is full, the heaviest user gives way to a lighter one, and not the other way round', () => {
  const things = share(6, 5)
  const gone: string[] = []
  const take = (of: typeof ann) => codeOf(() => things.acquire(of, () => gone.push(of.owner)))
  for (const of of [ann, ann, ann, ann, bob]) take(of)
  expect([take(ann), take(bob), gone]).toEqual(['server.limit', 'taken', ['ann']])
  expect([take(eve), take(eve), gone]).toEqual(['taken', 'taken', ['ann', 'ann']])
  expect(take(eve)).toBe('taken')
  expect(take(eve)).toBe('server.full')
})

test('what was released is counted no more', () => {
  const things = share(2)
  for (let i = 0; i < 100; i++) things.acquire(i % 2 === 0 ? ann : eve).release()
  expect([things.inUse, codeOf(() => things.acquire(bob))]).toEqual([0, 'taken'])
})
