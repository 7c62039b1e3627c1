import type { Ledger } from '@allium/store'
import { check, checkEqual, checkRejects } from '../check.ts'
import { hostileNames } from '../hostile-names.ts'
import { seeded } from '../random.ts'

/** The test bench of a case. `other` is the same ledger as another process sees it. */
export interface LedgerBench {
  ledger: Ledger
  other: Ledger
  seed: number
  /** The duration of a hold that is supposed to expire, in milliseconds. */
  ttl: number
  wait(ms: number): Promise<void>
}

const account = 'acme'
const hold = (id: string, amount: number, limit: number, of = account) => ({ id, account: of, amount, limit })

export const ledgerCaseList: Readonly<Record<string, (bench: LedgerBench) => Promise<void>>> = {
  async 'reserves no amount that would swallow others, and settles one that was spent all the same'({ ledger, other }) {
    const place = { account: 'huge', limit: Number.POSITIVE_INFINITY }
    for (const amount of [1e308, 1e16, Number.POSITIVE_INFINITY, Number.NaN, -1])
      await checkRejects(
        (async () => await ledger.reserve({ ...place, id: `${amount}`, amount }))(),
        'ledger.invalid',
        `reserve() of ${amount}`,
      )
    const held = await ledger.reserve({ ...place, id: 'spent', amount: 1 })
    if (held !== undefined) await ledger.settle(held, 1e308)
    const { spent, reserved } = await other.balance('huge')
    checkEqual(
      [spent > 1e14, Number.isFinite(spent), reserved],
      [true, true, 0],
      'No reservation remains after the settlement',
    )
  },

  async 'begins each account with nothing spent and nothing reserved'({ ledger }) {
    await checkBalance(ledger, 0, 0)
  },

  async 'reserves up to the limit exactly, and no more'({ ledger, other }) {
    checkEqual(
      await ledger.reserve(hold('a', 6, 10)),
      { id: 'a', account, amount: 6 },
      'reserve() gives the reservation',
    )
    check((await other.reserve(hold('b', 5, 10))) === undefined, 'reserve() beyond the limit gives undefined')
    await checkBalance(other, 0, 6)
    check((await other.reserve(hold('c', 4, 10))) !== undefined, 'An amount that fits exactly is reserved')
    check((await ledger.reserve(hold('d', 0.001, 10))) === undefined, 'A full account accepts no reservation')
    check((await ledger.reserve(hold('e', 0, 10))) !== undefined, 'A zero amount always fits')
    await checkBalance(ledger, 0, 10)
  },

  async 'settles the actual spending: less, more, or nothing'({ ledger, other }) {
    for (const [id, spent, sum] of [
      ['less', 2, 2],
      ['more', 9, 11],
      ['nothing', 0, 11],
    ] as const) {
      const held = await ledger.reserve(hold(id, 5, 100))
      check(held !== undefined, 'The reservation succeeds')
      await other.settle(held, spent)
      await checkBalance(ledger, sum, 0)
    }
    check((await ledger.reserve(hold('over', 1, 11))) === undefined, 'Spending above the reservation counts')
  },

  async 'counts reservations and spending together'({ ledger, other }) {
    const held = await ledger.reserve(hold('a', 4, 10))
    check(held !== undefined, 'The reservation succeeds')
    await ledger.settle(held, 4)
    await ledger.reserve(hold('b', 4, 10))
    check((await other.reserve(hold('c', 3, 10))) === undefined, 'spent + reserved + amount may not pass the limit')
    check((await other.reserve(hold('c', 2, 10))) !== undefined, 'A rejected id may be used again')
    await checkBalance(ledger, 4, 6)
  },

  async 'reserves once for an id, even if called repeatedly'({ ledger, other }) {
    await ledger.reserve(hold('a', 4, 10))
    const again = await Promise.all([other, ledger, other].map((one) => one.reserve(hold('a', 4, 10))))
    for (const held of again)
      checkEqual(held, { id: 'a', account, amount: 4 }, 'A repeated reserve() gives the first one')
    await checkBalance(ledger, 0, 4)
  },

  async 'settles once for an id, even if called repeatedly'({ ledger, other }) {
    const held = await ledger.reserve(hold('a', 4, 10))
    check(held !== undefined, 'The reservation succeeds')
    await Promise.all([ledger, other, ledger].map((one) => one.settle(held, 3)))
    await other.settle(held, 3)
    await checkBalance(ledger, 3, 0)
  },

  async 'posts nothing twice when a whole step is replayed'({ ledger, other }) {
    for (const one of [ledger, other, ledger]) {
      const held = await one.reserve(hold('a', 4, 4))
      check(held !== undefined, 'A replayed reserve() is not refused, though the account is full')
      await one.settle(held, 4)
    }
    await checkBalance(ledger, 4, 0)
  },

  async 'posts nothing for a reservation that it never gave'({ ledger }) {
    await ledger.settle({ id: 'nobody', account, amount: 5 }, 5)
    await checkBalance(ledger, 0, 0)
  },

  async 'takes equal ids in two accounts for two reservations'({ ledger }) {
    const names = ['acme', 'globex']
    const held = await Promise.all(names.map((of) => ledger.reserve(hold('same', 4, 10, of))))
    await ledger.settle(held[0] ?? { id: 'same', account, amount: 4 }, 1)
    await checkBalance(ledger, 1, 0, 'acme')
    await checkBalance(ledger, 0, 4, 'globex')
  },

  async 'keeps accounts apart whatever their names are'({ ledger, other }) {
    for (const [i, of] of hostileNames.entries()) await ledger.reserve(hold('a', i + 1, 1e6, of))
    for (const [i, of] of hostileNames.entries()) await checkBalance(other, 0, i + 1, of)
  },

  async 'never passes a limit, however many reserve at once'({ ledger, other }) {
    const reservations = Array.from({ length: 200 }, (_, i) =>
      (i % 2 === 0 ? ledger : other).reserve(hold(`r${i}`, 1, 37)),
    )
    const given = (await Promise.all(reservations)).filter((held) => held !== undefined)
    checkEqual(given.length, 37, `Of 200 concurrent reservations of 1, 37 must succeed, but ${given.length} did`)
    await Promise.all(given.map((held, i) => (i % 2 === 0 ? other : ledger).settle(held, i % 2)))
    await checkBalance(ledger, 18, 0)
  },

  async 'keeps to the limit and to the sums through random posts at once'({ ledger, other, seed }) {
    const random = seeded(seed)
    let spent = 0
    const step = async (i: number, ms: number, used: number) => {
      const one = i % 2 === 0 ? ledger : other
      const held = await one.reserve(hold(`r${i}`, 10, 100))
      const { spent: now, reserved } = await one.balance(account)
      check(now + reserved <= 100, `No balance exceeds the limit of 100, but ${now} + ${reserved} did`)
      if (held === undefined) return
      for (let turn = 0; turn < ms; turn++) await Promise.resolve()
      await one.settle(held, used)
      spent += used
    }
    const steps = Array.from({ length: 100 }, (_, i) => step(i, random.below(20), random.below(11)))
    await Promise.all(steps)
    await checkBalance(ledger, spent, 0)
  },

  async 'adds up small amounts to within a billionth'({ ledger }) {
    for (let i = 0; i < 1000; i++) {
      const held = await ledger.reserve(hold(`r${i}`, 0.0003, 1000))
      await ledger.settle(held ?? { id: '', account, amount: 0 }, 0.0001)
    }
    await checkBalance(ledger, 0.1, 0)
  },

  async 'releases a hold after its time to live, and posts a late settlement'({ ledger, other, ttl, wait }) {
    const held = await ledger.reserve({ ...hold('lost', 6, 10), ttl })
    await ledger.reserve(hold('stays', 4, 10))
    check(held !== undefined, 'The reservation succeeds')
    check((await other.reserve(hold('b', 1, 10))) === undefined, 'A hold reserves its amount until it expires')
    await wait(ttl + 1)
    await checkBalance(other, 0, 4)
    check((await other.reserve(hold('b', 6, 10))) !== undefined, 'The amount of a hold is free after it expires')
    await other.settle(held, 5)
    await ledger.settle(held, 5)
    await checkBalance(ledger, 5, 10)
  },

  async 'renews a hold that is reserved again, even after it expired'({ ledger, other, ttl, wait }) {
    const request = { ...hold('runs', 6, 10), ttl }
    await ledger.reserve(request)
    await wait(ttl * 0.6)
    await ledger.reserve(request)
    await wait(ttl * 0.6)
    await checkBalance(other, 0, 6)
    await wait(ttl)
    await checkBalance(other, 0, 0)
    checkEqual(await other.reserve(request), { id: 'runs', account, amount: 6 }, 'An expired hold is granted again')
    await checkBalance(ledger, 0, 6)
  },

  async 'shortens a hold that is reserved again for less time'({ ledger, other, ttl, wait }) {
    await ledger.reserve({ ...hold('runs', 6, 10), ttl: ttl * 10 })
    await other.reserve({ ...hold('runs', 6, 10), ttl })
    await wait(ttl + 1)
    await checkBalance(ledger, 0, 0)
  },

  async 'counts a settlement that can wait at once, and posts it for other processes once it resolves'({
    ledger,
    other,
  }) {
    const held = await ledger.reserve({ ...hold('a', 4, 10), run: 'run-1' })
    check(held !== undefined, 'The reservation succeeds')
    const posted = ledger.settleSoon?.(held, 3) ?? ledger.settle(held, 3)
    if (ledger.settleSoon !== undefined) await checkBalance(ledger, 3, 0)
    await posted
    await checkBalance(other, 3, 0)
    await ledger.settle(held, 3)
    await checkOpenHolds(other, 'run-1', [])
    await checkBalance(ledger, 3, 0)
  },

  async 'finds the holds of a run, even expired ones, until they are settled'({ ledger, other, ttl, wait }) {
    const [lost, cut] = [
      { ...hold('a', 4, 10), ttl, run: 'run-1' },
      { ...hold('b', 1, 10, 'globex'), run: 'run-1' },
    ]
    for (const request of [lost, cut, { ...hold('c', 1, 10), run: 'run-2' }, hold('d', 1, 10)])
      await ledger.reserve(request)
    await wait(ttl + 1)
    await checkOpenHolds(other, 'run-1', ['a', 'b'])
    await other.settle({ id: 'a', account, amount: 4 }, 4)
    await checkOpenHolds(ledger, 'run-1', ['b'])
    await checkOpenHolds(ledger, 'run-%', [])
    await checkBalance(ledger, 4, 2)
  },

  async 'rejects invalid amounts'({ ledger }) {
    const held = await ledger.reserve(hold('a', 1, 10))
    for (const amount of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await checkRejects(
        eventually(() => ledger.reserve(hold('b', amount, 10))),
        'ledger.invalid',
        `reserve() of ${amount}`,
      )
      await checkRejects(
        eventually(() => ledger.settle(held ?? { id: 'a', account, amount: 1 }, amount)),
        'ledger.invalid',
        `settle() of ${amount}`,
      )
    }
    await checkBalance(ledger, 0, 1)
  },
}

/** Converts a synchronous error to a rejection. */
async function eventually<T>(post: () => T | Promise<T>): Promise<T> {
  return await post()
}

async function checkOpenHolds(ledger: Ledger, run: string, ids: readonly string[]): Promise<void> {
  const holds = await ledger.holds?.(run)
  checkEqual(holds?.map(({ id }) => id).sort(), ids, `holds() of ${JSON.stringify(run)}`)
}

async function checkBalance(ledger: Ledger, spent: number, reserved: number, of = account): Promise<void> {
  const balance = await ledger.balance(of)
  const near = (a: number, b: number) => Math.abs(a - b) < 1e-9
  if (!near(balance.spent, spent) || !near(balance.reserved, reserved))
    checkEqual(balance, { spent, reserved }, `The balance of ${JSON.stringify(of)}`)
}
