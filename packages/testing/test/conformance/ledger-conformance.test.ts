import { type Ledger, memoryLedger } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { ledgerCases, ledgerConformance } from '../../src/index.ts'
import { expectToFail } from './expect-to-fail.ts'

ledgerConformance({ name: 'memoryLedger', makeLedger: ({ clock }) => memoryLedger({ clock }), describe, it })

type Breaks = (ledger: Ledger) => Partial<Ledger>
const unlimited = { limit: Number.POSITIVE_INFINITY }
let unique = 0

/** Each fault that a ledger may have, and the case that must find it. */
const faults: [fault: string, breaks: Breaks, found: string][] = [
  [
    'begins with something',
    (ledger) => ({ balance: async (of) => ({ ...(await ledger.balance(of)), spent: 1 }) }),
    'begins each account with nothing spent and nothing reserved',
  ],
  [
    'refuses what fits exactly',
    (ledger) => ({ reserve: (asked) => ledger.reserve({ ...asked, limit: asked.limit - 0.5 }) }),
    'reserves up to the limit exactly, and no more',
  ],
  [
    'settles what was reserved',
    (ledger) => ({ settle: (held) => ledger.settle(held, held.amount) }),
    'settles the actual spending: less, more, or nothing',
  ],
  [
    'counts what is spent alone',
    (ledger) => ({
      reserve: async (asked) =>
        (await ledger.balance(asked.account)).spent + asked.amount > asked.limit
          ? undefined
          : ledger.reserve({ ...asked, ...unlimited }),
    }),
    'counts reservations and spending together',
  ],
  [
    'ignores ids of reservations',
    (ledger) => ({ reserve: (asked) => ledger.reserve({ ...asked, id: `${asked.id}${unique++}` }) }),
    'reserves once for an id, even if called repeatedly',
  ],
  [
    'settles each time',
    (ledger) => ({
      settle: async (held, spent) => {
        await ledger.settle(held, spent)
        await again(ledger, held.account, spent)
      },
    }),
    'settles once for an id, even if called repeatedly',
  ],
  ['forgets what was settled', (ledger) => forgets(ledger), 'posts nothing twice when a whole step is replayed'],
  [
    'settles for anybody',
    (ledger) => ({
      settle: async (held, spent) => {
        await ledger.reserve({ ...held, ...unlimited })
        await ledger.settle(held, spent)
      },
    }),
    'posts nothing for a reservation that it never gave',
  ],
  [
    'takes ids for unique',
    (ledger) => {
      const known = new Map<string, string>()
      return {
        reserve: (asked) => {
          const account = known.get(asked.id) ?? asked.account
          known.set(asked.id, account)
          return ledger.reserve({ ...asked, account })
        },
      }
    },
    'takes equal ids in two accounts for two reservations',
  ],
  [
    'ignores case',
    (ledger) => ({
      reserve: (asked) => ledger.reserve({ ...asked, id: asked.account, account: asked.account.toLowerCase() }),
      balance: (of) => ledger.balance(of.toLowerCase()),
    }),
    'keeps accounts apart whatever their names are',
  ],
  ['looks, waits and posts', (ledger) => racing(ledger), 'never passes a limit, however many reserve at once'],
  [
    'lets pass what comes late',
    (ledger) => racing(ledger),
    'keeps to the limit and to the sums through random posts at once',
  ],
  [
    'rounds to a thousandth',
    (ledger) => ({ settle: (held, spent) => ledger.settle(held, Math.round(spent * 1000) / 1000) }),
    'adds up small amounts to within a billionth',
  ],
  [
    'holds for ever',
    (ledger) => ({ reserve: ({ ttl: _, ...asked }) => ledger.reserve(asked) }),
    'releases a hold after its time to live, and posts a late settlement',
  ],
  [
    'holds no longer when it is asked again',
    (ledger) => {
      const asked = new Set<string>()
      return {
        reserve: ({ id, account, amount, ...more }) => {
          if (asked.has(id)) return { id, account, amount }
          asked.add(id)
          return ledger.reserve({ id, account, amount, ...more })
        },
      }
    },
    'renews a hold that is reserved again, even after it expired',
  ],
  [
    'never holds for less time',
    (ledger) => {
      const longest = new Map<string, number>()
      return {
        reserve: ({ ttl = 0, ...asked }) => {
          longest.set(asked.id, Math.max(longest.get(asked.id) ?? 0, ttl))
          return ledger.reserve({ ...asked, ttl: longest.get(asked.id) })
        },
      }
    },
    'shortens a hold that is reserved again for less time',
  ],
  [
    'forgets what can wait',
    () => ({ settleSoon: async () => {} }),
    'counts a settlement that can wait at once, and posts it for other processes once it resolves',
  ],
  [
    'does not know whose a hold is',
    (ledger) => ({ reserve: ({ run: _, ...asked }) => ledger.reserve(asked) }),
    'finds the holds of a run, even expired ones, until they are settled',
  ],
  [
    'takes as much as is asked',
    (ledger) => ({ reserve: (asked) => ledger.reserve({ ...asked, amount: Math.min(asked.amount, 1) }) }),
    'reserves no amount that would swallow others, and settles one that was spent all the same',
  ],
  [
    'takes any number',
    (ledger) => ({ reserve: (asked) => ledger.reserve({ ...asked, amount: Math.abs(asked.amount) || 0 }) }),
    'rejects invalid amounts',
  ],
]

describe('the ledger suite finds a ledger that', () => {
  const cases = (breaks: Breaks) =>
    ledgerCases(({ clock }) => {
      const ledger = memoryLedger({ clock })
      return { ...ledger, ...breaks(ledger) }
    })

  it.each(faults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = faults.map(([, , name]) => name)
    expect(
      cases(() => ({}))
        .map(({ name }) => name)
        .filter((name) => !found.includes(name)),
    ).toEqual([])
  })
})

async function again(ledger: Ledger, account: string, amount: number): Promise<void> {
  const held = await ledger.reserve({ id: `again-${unique++}`, account, amount, limit: Number.POSITIVE_INFINITY })
  if (held !== undefined) await ledger.settle(held, amount)
}

/** A new id for what was settled before. */
function forgets(ledger: Ledger): Partial<Ledger> {
  const settled = new Map<string, number>()
  const idOf = (id: string) => `${id}/${settled.get(id) ?? 0}`
  return {
    reserve: (asked) => ledger.reserve({ ...asked, id: idOf(asked.id) }),
    async settle(held, spent) {
      await ledger.settle(held, spent)
      const id = held.id.split('/')[0] as string
      settled.set(id, (settled.get(id) ?? 0) + 1)
    },
  }
}

function racing(ledger: Ledger): Partial<Ledger> {
  return {
    async reserve(asked) {
      const { spent, reserved } = await ledger.balance(asked.account)
      await undefined
      if (spent + reserved + asked.amount > asked.limit) return undefined
      return ledger.reserve({ ...asked, ...unlimited })
    },
  }
}
