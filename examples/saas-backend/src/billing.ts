import type { Usage } from 'allium'
import type * as observe from 'allium/observe'
import { billing, type Store } from './store.ts'

const day = 24 * 60 * 60_000

export interface DayOfUsage {
  /** A day in UTC, such as `2026-11-22`. */
  day: string
  runs: number
  usage: Pick<Usage, 'inputTokens' | 'outputTokens'>
  /** In USD. */
  cost: number
}

/** Bills tenants by day from the records of the outbox. A record that is delivered twice is counted once. */
export function openBilling({ sessions, ledger, usage }: Store) {
  const accountOf = (tenant: string, day: string) => `bill:${JSON.stringify([tenant, day])}`

  /** Posts the records of the outbox. */
  async function post(): Promise<void> {
    for (;;) {
      const records = await sessions.outbox.claim(billing, 100, 30_000)
      if (records.length === 0) return
      for (const { id, tenant, at, data } of records) {
        const { cost = 0 } = data as observe.UsageRecord
        const account = accountOf(tenant, dayOf(at))
        const held = await ledger.reserve({ id: `bill:${id}`, account, amount: 0, limit: Number.MAX_SAFE_INTEGER })
        if (held !== undefined) await ledger.settle(held, cost)
      }
      await sessions.outbox.done(
        billing,
        records.map(({ id }) => id),
      )
    }
  }

  return {
    post,
    /** Returns the last days of a tenant, oldest first, including days without a run. */
    async days(tenant: string, count: number, now: number): Promise<DayOfUsage[]> {
      await post()
      const used = new Map((await usage({ tenant, from: now - count * day })).map((one) => [one.day, one]))
      const names = Array.from({ length: count }, (_, back) => dayOf(now - (count - 1 - back) * day))
      return Promise.all(
        names.map(async (name) => {
          const { runs = 0, usage = { inputTokens: 0, outputTokens: 0 } } = used.get(name) ?? {}
          const { spent } = await ledger.balance(accountOf(tenant, name))
          return { day: name, runs, usage, cost: spent }
        }),
      )
    },
  }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
