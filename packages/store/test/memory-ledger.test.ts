import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { memoryLedger } from '../src/index.ts'

const hour = 3_600_000

function ledgerOf({ maxAccounts = 3, ...options }: Parameters<typeof memoryLedger>[0] = {}) {
  const clock = manualClock()
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  const ledger = memoryLedger({ maxAccounts, clock, logger, ...options })
  const spend = (account: string, amount: number, endsIn?: number, id = `${account}:1`) => {
    const held = ledger.reserve({ id, account, amount, limit: 100, ...(endsIn !== undefined && { endsIn }) })
    if (held !== undefined) void ledger.settle(held as never, amount)
    return held !== undefined
  }
  return { ledger, clock, warnings, spend }
}

describe('memoryLedger', () => {
  it('never forgets what an account without an end has spent, however many there are', async () => {
    const { ledger, spend } = ledgerOf()
    for (let i = 0; i < 1_000; i++) spend(`tenant-${i}`, 5)
    expect(ledger.balance('tenant-0')).toEqual({ spent: 5, reserved: 0 })
    expect(spend('tenant-0', 96, undefined, 'more')).toBe(false)
  })

  it('says where it holds more accounts than it is meant to, and again when these have doubled', async () => {
    const { spend, warnings } = ledgerOf()
    for (let i = 0; i < 13; i++) spend(`session-${i}`, 1)
    expect(warnings.length).toBe(2)
    expect(warnings[0]).toContain('4 accounts')
    expect(warnings[0]).toContain('window')
  })

  it('forgets accounts whose window is over, where it holds too many, and no others', async () => {
    const { ledger, spend, clock, warnings } = ledgerOf()
    spend('acme:10h', 5, hour)
    spend('globex:day', 6, 24 * hour)
    await clock.advance(hour)
    for (const name of ['a', 'b', 'c']) spend(name, 1)
    const balances = ['acme:10h', 'globex:day', 'a', 'b'].map((name) => ledger.balance(name))
    expect(balances.map((balance) => (balance as { spent: number }).spent)).toEqual([0, 6, 1, 1])
    expect(warnings).toEqual([])
  })

  it('holds no account for what it refused', async () => {
    const { ledger, warnings } = ledgerOf()
    for (let i = 0; i < 9; i++) ledger.reserve({ id: 'a', account: `poor-${i}`, amount: 2, limit: 1 })
    expect(warnings).toEqual([])
  })

  it('keeps an account whose window is over while a call of it runs', async () => {
    const { ledger, spend, clock } = ledgerOf({ maxAccounts: 1 })
    ledger.reserve({ id: 'runs', account: 'acme:10h', amount: 7, limit: 10, endsIn: hour })
    await clock.advance(2 * hour)
    for (const name of ['a', 'b']) spend(name, 1)
    expect(ledger.balance('acme:10h')).toEqual({ spent: 0, reserved: 7 })
    ledger.settle({ id: 'runs', account: 'acme:10h', amount: 7 }, 3)
    for (const name of ['c', 'd', 'e', 'f', 'g']) spend(name, 1)
    expect(ledger.balance('acme:10h')).toEqual({ spent: 0, reserved: 0 })
  })

  it('forgets an account that was closed, at once, or when its last call has settled', async () => {
    const { ledger, spend } = ledgerOf()
    spend('turn-1', 5)
    const held = ledger.reserve({ id: 'late', account: 'turn-1', amount: 2, limit: 100 })
    void ledger.close?.('turn-1')
    expect(ledger.balance('turn-1')).toEqual({ spent: 5, reserved: 2 })
    void ledger.settle(held as never, 2)
    expect(ledger.balance('turn-1')).toEqual({ spent: 0, reserved: 0 })
  })

  it('posts a replayed call once for the time that it remembers, and longer only by chance', async () => {
    const { ledger, spend, clock } = ledgerOf({ settledRetention: 60_000 })
    spend('acme', 5, undefined, 'call')
    await clock.advance(60_000)
    spend('acme', 5, undefined, 'call')
    expect(ledger.balance('acme')).toEqual({ spent: 5, reserved: 0 })
    await clock.advance(120_000)
    spend('globex', 1)
    spend('acme', 5, undefined, 'call')
    expect(ledger.balance('acme')).toEqual({ spent: 10, reserved: 0 })
  })

  it('remembers so many settled calls and no more, over all accounts', async () => {
    const { ledger, spend } = ledgerOf({ maxSettled: 4 })
    for (let i = 0; i < 5; i++) spend('acme', 1, undefined, `call-${i}`)
    spend('acme', 1, undefined, 'call-4')
    spend('acme', 1, undefined, 'call-0')
    expect(ledger.balance('acme')).toEqual({ spent: 6, reserved: 0 })
  })
})
