import { type Ledger, memoryLedger, type Reservation } from '@allium/store'
import { type ManualClock, manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { LedgerRateStore } from '../../guard/src/limits/ledger-rate-store.ts'
import { type Random, seeded } from '../../testing/src/conformance/random.ts'
import { sqlite } from '../src/index.ts'
import { fileIn } from './files.ts'

// Random schedules of processes that share a ledger: they take, settle, refund, wait and are killed. A model of the accounts says after
// each step what must be true.

const window = 60_000
const lease = 1_000
const maxBlock = 64
const kinds = ['memory', 'SQLite'] as const

/** Opens the ledger of a new process on the same accounts. */
function ledgers(kind: (typeof kinds)[number], clock: ManualClock): { open: () => Ledger; closeAll: () => void } {
  if (kind === 'memory') {
    const shared = memoryLedger({ clock })
    return { open: () => shared, closeAll: () => {} }
  }
  const path = fileIn()
  const stores: ReturnType<typeof sqlite>[] = []
  const open = () => {
    const store = sqlite(path, { clock, synchronous: 'normal' })
    stores.push(store)
    return store.ledger
  }
  const closeAll = () => {
    for (const store of stores) store.close()
  }
  return { open, closeAll }
}

/** A ledger whose process may be killed: from then on its posts never happen. */
function killable(ledger: Ledger) {
  let isKilled = false
  const never = new Promise<never>(() => {})
  const own: Ledger = {
    ...ledger,
    reserve: (request) => (isKilled ? never : ledger.reserve(request)),
    settle: (hold, spent) => (isKilled ? never : ledger.settle(hold, spent)),
  }
  return { own, kill: () => (isKilled = true) }
}

interface Slot {
  readonly hold: Reservation
  readonly process: number
}

/** Rates: the slots that are granted in a window, and those that killed processes may have taken along. */
async function playRates(random: Random, clock: ManualClock, open: () => Ledger): Promise<void> {
  const limit = random.pick([1, 9, 39, 40, 150, 700])
  const start = () => {
    const { own, kill } = killable(open())
    return { kill, store: new LedgerRateStore(own, clock, { keyPrefix: 'r', points: limit, duration: window / 1000 }) }
  }
  const processes = Array.from({ length: 2 + random.below(2) }, start)
  let windowStart = 0
  let granted: Slot[] = []
  let lost = 0
  const take = async (at: number) => {
    const hold = await processes[at]?.store.consume('acme').catch(() => undefined)
    if (hold !== undefined) granted.push({ hold, process: at })
  }
  const refund = async () => {
    const [slot] = granted.splice(random.below(granted.length), 1)
    if (slot === undefined) return
    await processes[slot.process]?.store.undo(slot.hold)
    // A slot of a block that the process has no more stays taken.
    if (slot.hold.amount > 1) lost++
  }
  const pass = async (ms: number) => {
    await clock.advance(ms)
    const now = clock.now() - (clock.now() % window)
    if (now === windowStart) return
    windowStart = now
    granted = []
    lost = 0
  }
  for (let step = 0; step < 40; step++) {
    const at = random.below(processes.length)
    const kind = random.below(12)
    if (kind < 5) await take(at)
    else if (kind < 8)
      await Promise.all(Array.from({ length: random.below(60) }, () => take(random.below(2) + at > at ? at : 0)))
    else if (kind < 9) await refund()
    else if (kind < 11) await pass(random.pick([1, 50, 400, 1000, 1001, 20_000, 60_000]))
    else {
      processes[at]?.kill()
      processes[at] = start()
      granted = granted.map((slot) => (slot.process === at ? { ...slot, process: -1 } : slot))
      lost += maxBlock
    }
    expect(granted.length).toBeLessThanOrEqual(limit)
  }
  // What nobody uses is back after a lease, except for the blocks of killed processes.
  await pass(lease)
  await clock.advance(0)
  const used = granted.length
  for (let i = 0; i < limit + 1; i++) await take(i % processes.length)
  expect(granted.length).toBeLessThanOrEqual(limit)
  expect(granted.length).toBeGreaterThanOrEqual(Math.max(used, limit - lost))
  await pass(window)
  for (let i = 0; i < limit + 1; i++) await take(0)
  expect(granted.length).toBe(limit)
}

interface ModelHold extends Reservation {
  readonly run: string
  expiresAt: number
  spent: number | undefined
}

/** Money: every answer and every balance of every process, compared with a model of the account. */
async function playMoney(random: Random, clock: ManualClock, open: () => Ledger): Promise<void> {
  const account = 'acme'
  const limit = 50
  let processes = Array.from({ length: 2 }, open)
  const holds: ModelHold[] = []
  const pick = () => random.pick(processes)
  const balance = () => {
    const spent = holds.reduce((sum, hold) => sum + (hold.spent ?? 0), 0)
    const open = holds.filter((hold) => hold.spent === undefined && hold.expiresAt > clock.now())
    return { spent, reserved: open.reduce((sum, { amount }) => sum + amount, 0) }
  }
  const reserve = async () => {
    const known = random.below(5) === 0 ? holds[random.below(holds.length)] : undefined
    const ttl = random.pick([100, 1000, 5000])
    const amount = known?.amount ?? random.below(12)
    const { id, run } = known ?? { id: `h${holds.length}`, run: `run-${random.below(4)}` }
    const fits = balance().spent + balance().reserved + amount <= limit
    const endsIn = random.pick([undefined, 600_000, 700_000])
    const request = { id, account, amount, limit, ttl, run, ...(endsIn !== undefined && { endsIn }) }
    const held = await pick().reserve(request)
    if (known !== undefined) {
      expect(held).toEqual({ id, account, amount: known.amount })
      if (known.spent === undefined) known.expiresAt = clock.now() + ttl
      return
    }
    expect(held).toEqual(fits ? { id, account, amount } : undefined)
    if (fits) holds.push({ id, account, amount, run, expiresAt: clock.now() + ttl, spent: undefined })
  }
  const settle = async (hold = holds[random.below(holds.length)], by?: number) => {
    if (hold === undefined) return
    const spent = by ?? random.below(9)
    const ledger = pick()
    const { id, amount } = hold
    if (ledger.settleSoon === undefined || random.below(2) === 0) await ledger.settle({ id, account, amount }, spent)
    else {
      const posted = ledger.settleSoon({ id, account, amount }, spent)
      hold.spent ??= spent
      // This process counts it before it is posted.
      expect(await ledger.balance(account)).toEqual(balance())
      await posted
    }
    hold.spent ??= spent
  }
  /** The next process posts the reservations of a lost run by their estimates. */
  const takeOver = async () => {
    processes = [...processes.slice(1), open()]
    const run = `run-${random.below(4)}`
    const lost = holds.filter((hold) => hold.run === run && hold.spent === undefined)
    const found = (await pick().holds?.(run)) ?? []
    expect(found.map(({ id }) => id).sort()).toEqual(lost.map(({ id }) => id).sort())
    for (const hold of lost) await settle(hold, hold.amount)
  }
  for (let step = 0; step < 60; step++) {
    const kind = random.below(10)
    if (kind < 5) await reserve()
    else if (kind < 7) await settle()
    else if (kind < 9) await clock.advance(random.pick([1, 99, 100, 999, 5000]))
    else await takeOver()
    for (const ledger of processes) expect(await ledger.balance(account)).toEqual(balance())
  }
}

describe.each(kinds)('random schedules of processes on a ledger in %s', (kind) => {
  const seeds = Array.from({ length: kind === 'memory' ? 60 : 12 }, (_, i) => i + 1)

  it.each([
    ['never grant more slots of a rate than its limit, and lose none for longer than a lease', playRates],
    ['post every amount once, find every reservation of a lost run, and show an exact balance', playMoney],
  ])(
    '%s',
    async (_, play) => {
      for (const seed of seeds) {
        const clock = manualClock()
        const { open, closeAll } = ledgers(kind, clock)
        try {
          await play(seeded(seed), clock, open)
        } catch (error) {
          throw new Error(`The schedule of seed ${seed} failed.`, { cause: error })
        } finally {
          closeAll()
        }
      }
    },
    60_000,
  )
})
