import type { Logger } from '@allium/core'
import { checkAmount, type Ledger, postedAmount, type Reservation } from '@allium/store'
import { checkName } from '@allium/store-sql'

import type { Client, RedisClient } from './client.ts'
import { balanceScript, reserveScript, settleScript } from './ledger-scripts.ts'

/** A ledger that may lose the amounts spent. */
export interface LossyLedger extends Ledger {
  readonly lossy: true
}

/** How long a settled call is remembered in milliseconds, so that a replay posts nothing twice. */
const settledTtl = 600_000

/** A ledger in Redis. It is exact while Redis runs, and loses data in a flush, an eviction, or a restart without the last writes. */
export function redisLedger(client: Client, logger: Pick<Logger, 'warn'>): LossyLedger {
  let hasWarned = false
  const keysOf = (account: string) => {
    const slotParts = ['ledger', checkName('account', account)]
    return ['sums', 'holds', 'settled', 'ends', 'over'].map((part) => client.key(slotParts, part))
  }
  const runKey = (run: string) => client.key(['ledger', checkName('run of a reservation', run)], 'run')
  const warnOnce = () => {
    if (hasWarned) return
    hasWarned = true
    try {
      logger.warn(
        'The ledger of redis() is lossy: after a flush, an eviction or a restart of Redis, it forgets what was spent. Use @allium/store-postgres or @allium/store-sqlite for budgets that matter.',
      )
    } catch {
      // A failing logger must not fail a post.
    }
  }
  return {
    lossy: true,
    async reserve({ id, account, amount, limit, endsIn, ttl, run }) {
      checkAmount(amount)
      checkName('id of a reservation', id)
      warnOnce()
      if (run !== undefined)
        await client.command((redis) => indexHold(redis, runKey(run), JSON.stringify([account, id])))
      const [accountEnd, holdExpiry] = [endsIn, ttl].map((ms) => (ms === undefined ? '' : Math.ceil(ms))) as [
        number | '',
        number | '',
      ]
      const values = [id, toText(amount), toText(limit), accountEnd, settledTtl, holdExpiry]
      const held = await client.runScript(reserveScript, keysOf(account), ...values)
      return held === null ? undefined : { id, account, amount: Number(held) }
    },
    async settle({ id, account }, outcome) {
      const spent = postedAmount(outcome)
      checkName('id of a reservation', id)
      warnOnce()
      await client.runScript(settleScript, keysOf(account), id, toText(spent), settledTtl)
    },
    async balance(account) {
      const [spent, reserved] = (await client.runScript(balanceScript, keysOf(account))) as [string, string]
      return { spent: Number(spent ?? 0), reserved: Math.max(0, Number(reserved ?? 0)) }
    },
    async holds(run) {
      const holdNames = await client.command((redis) => redis.smembers(runKey(run)))
      const reservations = holdNames.map(async (name): Promise<Reservation[]> => {
        const [account, id] = JSON.parse(name) as [string, string]
        const [, holds = ''] = keysOf(account)
        const amount = await client.command((redis) => redis.hget(holds, id))
        return amount === null ? [] : [{ id, account, amount: Number(amount) }]
      })
      return (await Promise.all(reservations)).flat()
    },
    async close(account) {
      const [sums = '', holds = '', settled = ''] = keysOf(account)
      await client.command(async (redis) => {
        if ((await redis.hlen(holds)) === 0) return await redis.del(sums, settled)
        return await redis.hset(sums, 'closed', '1')
      })
    },
  }
}

/** How long a run's holds can be found after the last one, in milliseconds. */
const holdIndexTtl = 86_400_000

async function indexHold(redis: RedisClient, key: string, name: string): Promise<void> {
  await redis.sadd(key, name)
  await redis.pexpire(key, holdIndexTtl)
}

/** Lua parses "inf" but not "Infinity". */
function toText(amount: number): string {
  return amount === Number.POSITIVE_INFINITY ? 'inf' : String(amount)
}
