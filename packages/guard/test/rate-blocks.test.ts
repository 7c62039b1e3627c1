import { type Ledger, memoryLedger } from '@allium/store'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { LedgerRateStore } from '../src/limits/ledger-rate-store.ts'

/** Processes that count in one ledger, and the posts that the ledger got. */
function world({ points = 1000, duration = 60 } = {}) {
  const clock = manualClock()
  const ledger = memoryLedger({ clock })
  const posts: string[] = []
  const counted: Ledger = {
    ...ledger,
    reserve(request) {
      posts.push(`reserve ${request.amount}`)
      return ledger.reserve(request)
    },
    settle(hold, spent) {
      posts.push(`settle ${spent} of ${hold.amount}`)
      return ledger.settle(hold, spent)
    },
  }
  const process = (own = counted) => new LedgerRateStore(own, clock, { keyPrefix: 'rate', points, duration })
  const reserved = async () => {
    const { spent, reserved: held } = await ledger.balance('rate:rate:0:acme')
    return spent + held
  }
  return { clock, ledger, posts, process, reserved }
}

async function take(store: LedgerRateStore, times: number): Promise<number> {
  const takes = Array.from({ length: times }, () => store.consume('acme'))
  return (await Promise.allSettled(takes)).filter(({ status }) => status === 'fulfilled').length
}

describe('slots of a rate in blocks', () => {
  it('writes once for many turns of a busy account', async () => {
    const { clock, posts, process } = world()
    const store = process()
    for (let i = 0; i < 100; i++) {
      await take(store, 1)
      await clock.advance(10)
    }
    expect(posts).toEqual([1, 8, 40, 64].map((size) => `reserve ${size}`))
    await clock.advance(1000)
    expect(posts.at(-1)).toBe('settle 51 of 64')
  })

  it('writes each turn of an account that is not busy, and keeps nothing of it', async () => {
    const { clock, posts, process, reserved } = world()
    const store = process()
    for (let i = 0; i < 5; i++) {
      await take(store, 1)
      await clock.advance(2000)
    }
    expect(posts).toEqual(Array(5).fill('reserve 1'))
    expect([await reserved(), clock.pending]).toEqual([5, 0])
  })

  it('never passes the limit with two processes, and comes to exactly the limit', async () => {
    for (const points of [1, 10, 39, 40, 100, 1000]) {
      const { process } = world({ points })
      const [a, b] = [process(), process()]
      const taken = await Promise.all(Array.from({ length: 40 }, async (_, i) => take(i % 3 === 0 ? a : b, points / 4)))
      const left = [await take(a, points), await take(b, points)]
      expect(taken.concat(left).reduce((sum, one) => sum + one)).toBe(points)
    }
  })

  it('is exact where the limit is below 40: no slot is out of reach of the other process', async () => {
    const { posts, process } = world({ points: 39 })
    expect([await take(process(), 38), await take(process(), 5)]).toEqual([38, 1])
    expect(new Set(posts)).toEqual(new Set(['reserve 1']))
  })

  it('returns what it does not use after a second', async () => {
    const { clock, process, reserved } = world({ points: 100 })
    const store = process()
    await take(store, 5)
    expect(await reserved()).toBe(9)
    await clock.advance(1000)
    expect(await reserved()).toBe(5)
    expect(await take(process(), 100)).toBe(95)
  })

  it('counts the block of a killed process as used until the window ends, and no longer', async () => {
    const { clock, ledger, process } = world({ points: 100 })
    const killed = process({ ...ledger, settle: () => new Promise<void>(() => {}) })
    expect(await take(killed, 5)).toBe(5)
    await clock.advance(59_000)
    expect(await take(process(), 100)).toBe(100 - 1 - 8)
    await clock.advance(1000)
    expect(await take(process(), 101)).toBe(100)
  })

  it('gives an abandoned turn its slot back: in the block, or in the ledger', async () => {
    const { clock, process, reserved } = world()
    const store = process()
    const slots = [await store.consume('acme'), await store.consume('acme'), await store.consume('acme')]
    expect(slots.map(({ amount }) => amount)).toEqual([1, 8, 8])
    await store.undo(slots[0] as (typeof slots)[0])
    await store.undo(slots[2] as (typeof slots)[0])
    await clock.advance(1000)
    expect(await reserved()).toBe(1)
  })

  it('does not fail the next turns because the ledger failed for a block', async () => {
    const { ledger, process } = world()
    let isDown = false
    const store = process({
      ...ledger,
      reserve: (request) => (isDown ? Promise.reject(new Error('down')) : ledger.reserve(request)),
    })
    await take(store, 9)
    isDown = true
    expect(await take(store, 5)).toBe(0)
    isDown = false
    expect(await take(store, 5)).toBe(5)
  })
})
