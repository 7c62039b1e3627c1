import { Agent } from '@allium/core'
import { type Ledger, memoryLedger } from '@allium/store'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { budget } from '../src/index.ts'

const usage = { inputTokens: 5, outputTokens: 5 }
const step = { text: 'hi', usage }

/** A ledger whose settle() fails so many times, after it has posted or before it. */
function failing(times: number, posts = false) {
  const ledger = memoryLedger()
  let left = times
  const posted: [string, number][] = []
  const failing: Ledger = {
    reserve: (request) => ledger.reserve(request),
    balance: (account) => ledger.balance(account),
    async settle(reservation, spent) {
      if (posts) await ledger.settle(reservation, spent)
      if (left-- > 0) throw new Error('ledger down.')
      await ledger.settle(reservation, spent)
      posted.push([reservation.id, spent])
    },
  }
  return { ledger: failing, posted }
}

function scene(ledger: Ledger) {
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line), error: (line: string) => void lines.push(line) }
  const model = scriptedModel([step, step, step])
  const options = { limit: 100_000, unit: 'tokens' as const, ledger, per: () => 'all' }
  const agent = new Agent({ model, logger, clock: manualClock() }).use(budget(options))
  return { agent, lines, balance: () => ledger.balance('all') }
}

describe('guard.budget, where the ledger cannot settle', () => {
  it.each([false, true])(
    'posts each amount once, at the end of the run (posted before it failed: %s)',
    async (posts) => {
      const { ledger, posted } = failing(1, posts)
      const { agent, lines, balance } = scene(ledger)
      expect((await agent.run('hello')).state['guard:budget:spent']).toBe(10)
      expect([await balance(), posted.length]).toEqual([{ spent: 10, reserved: 0 }, 1])
      expect(lines).toEqual([
        '"guard:budget" could not post the cost of a call: ledger down. It is retried with the next call and at the end of the run.',
      ])
    },
  )

  it('posts what several runs could not, with the next call', async () => {
    const { ledger, posted } = failing(4)
    const { agent, balance } = scene(ledger)
    for (let i = 0; i < 3; i++) await agent.run('hello')
    expect([await balance(), new Set(posted.map(([id]) => id)).size, posted.length]).toEqual([
      { spent: 30, reserved: 0 },
      3,
      3,
    ])
  })

  it('posts it when the agent is disposed, and holds the room until then', async () => {
    const { ledger } = failing(2)
    const { agent, balance } = scene(ledger)
    await agent.run('hello')
    const { spent, reserved } = await balance()
    expect([spent, reserved > 0]).toEqual([0, true])
    await agent.dispose()
    expect(await balance()).toEqual({ spent: 10, reserved: 0 })
  })

  it('names what was never posted, and to whom', async () => {
    const { agent, lines } = scene(failing(Number.POSITIVE_INFINITY).ledger)
    await agent.run('hello')
    await agent.dispose()
    expect(lines.at(-1)).toBe(
      '"guard:budget" could not post the cost of a call: ledger down. The agent is disposed, so post them manually.',
    )
  })
})
