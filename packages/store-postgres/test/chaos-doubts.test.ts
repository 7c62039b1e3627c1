import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionStore } from '@allium/store'
import { type Ledger, memoryLedger, memoryStore } from '@allium/store'
import { expect, it, onTestFinished } from 'vitest'
import { billsIn } from './chaos/bills.ts'
import { moneyProblems } from './chaos/books.ts'
import { agentOn, type Job, principal } from './chaos/scene.ts'

/** One turn of chaos on a store with a bug; what is wrong with its money. */
async function problemsWith(given: { sessions?: SessionStore; ledger?: Ledger }): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'allium-doubts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [effects, bills] = [join(folder, 'effects'), join(folder, 'bills')]
  writeFileSync(bills, '')
  const place = { kind: 'sqlite', at: '', schema: '', effects, bills, redis: undefined } as const
  const job: Job = { ...place, session: 's', key: 'k', label: undefined, signal: 'SIGKILL', statement: 0 }
  const store = { sessions: memoryStore(), ledger: memoryLedger(), close() {}, ...given }
  await agentOn(store, job).session({ id: 's', principal }).run('Pay', { idempotencyKey: 'k' })
  return moneyProblems(store, [], billsIn(bills))
}

it('finds nothing wrong with a store that has no bug', async () => {
  expect(await problemsWith({})).toEqual([])
})

it('sees a ledger that posts once more what is settled again', async () => {
  const ledger = memoryLedger()
  const twice: Ledger = {
    ...ledger,
    async settle({ id, account, amount }, spent) {
      await ledger.reserve({ id: `${id}'`, account, amount, limit: Number.MAX_VALUE })
      await ledger.settle({ id: `${id}'`, account, amount }, spent)
      await ledger.settle({ id, account, amount }, spent)
    },
  }
  expect(await problemsWith({ ledger: twice })).toEqual([expect.stringMatching(/^model calls have cost \d+ tokens/)])
})

it('sees a ledger in which the one who posts last is right', async () => {
  const ledger = memoryLedger()
  const posted = new Map<string, number>()
  const last: Ledger = {
    ...ledger,
    async settle(reservation, spent) {
      await ledger.settle(reservation, spent)
      posted.set(reservation.id, spent)
    },
    balance: () => ({ spent: [...posted.values()].reduce((sum, one) => sum + one, 0), reserved: 0 }),
  }
  expect(await problemsWith({ ledger: last })).toHaveLength(1)
})

it('sees a store that gives a session which somebody holds', async () => {
  const sessions = memoryStore()
  const careless: SessionStore = {
    ...sessions,
    async acquire(key, ms) {
      const { lease, heldUntil } = await sessions.acquire(key, ms)
      return lease === undefined ? { lease: { key, token: heldUntil, version: 0 } } : { lease }
    },
  }
  await expect(problemsWith({ sessions: careless })).rejects.toThrow('was given to two at once')
})
