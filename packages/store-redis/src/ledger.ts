import { checkAmount, type Ledger, type Logger, postedAmount, type Reservation } from '@allium/core'
import { checkName } from '@allium/store-sql'

import type { Client, RedisClient } from './client.ts'
import { balanceScript, reserveScript, settleScript } from './ledger-scripts.ts'

/** A ledger that may forget what was spent. */
export interface LossyLedger extends Ledger {
  readonly lossy: true
}

/** Milliseconds for which a settled call is known again, so that a replay posts nothing twice. */
const settledFor = 600_000

/** Money in Redis: exact while Redis runs, gone after a flush, an eviction, or a restart without what was written last. */
export function redisLedger(client: Client, logger: Pick<Logger, 'warn'>): LossyLedger {
  let isTold = false
  const keysOf = (account: string) => {
    const place = ['ledger', checkName('account', account)]
    return ['sums', 'holds', 'settled', 'ends', 'over'].map((part) => client.key(place, part))
  }
  const runKey = (run: string) => client.key(['ledger', checkName('run of a reservation', run)], 'run')
  const tell = () => {
    if (isTold) return
    isTold = true
    try {
      logger.warn(
        'The ledger of redis() is lossy: after a flush, an eviction or a restart of Redis, money that was spent is forgotten. Keep budgets that matter in @allium/store-postgres or @allium/store-sqlite.',
      )
    } catch {
      // A logger that fails fails no post.
    }
  }
  return {
    lossy: true,
    async reserve({ id, account, amount, limit, endsIn, ttl, run }) {
      checkAmount(amount)
      checkName('id of a reservation', id)
      tell()
      if (run !== undefined) await client.ask((redis) => noteHold(redis, runKey(run), JSON.stringify([account, id])))
      const [end, over] = [endsIn, ttl].map((ms) => (ms === undefined ? '' : Math.ceil(ms))) as [
        number | '',
        number | '',
      ]
      const values = [id, texts(amount), texts(limit), end, settledFor, over]
      const held = await client.run(reserveScript, keysOf(account), ...values)
      return held === null ? undefined : { id, account, amount: Number(held) }
    },
    async settle({ id, account }, given) {
      const spent = postedAmount(given)
      checkName('id of a reservation', id)
      tell()
      await client.run(settleScript, keysOf(account), id, texts(spent), settledFor)
    },
    async balance(account) {
      const [spent, reserved] = (await client.run(balanceScript, keysOf(account))) as [string, string]
      return { spent: Number(spent ?? 0), reserved: Math.max(0, Number(reserved ?? 0)) }
    },
    async holds(run) {
      const named = await client.ask((redis) => redis.smembers(runKey(run)))
      const found = named.map(async (name): Promise<Reservation[]> => {
        const [account, id] = JSON.parse(name) as [string, string]
        const [, holds = ''] = keysOf(account)
        const amount = await client.ask((redis) => redis.hget(holds, id))
        return amount === null ? [] : [{ id, account, amount: Number(amount) }]
      })
      return (await Promise.all(found)).flat()
    },
    async close(account) {
      const [sums = '', holds = '', settled = ''] = keysOf(account)
      await client.ask(async (redis) => {
        if ((await redis.hlen(holds)) === 0) return await redis.del(sums, settled)
        return await redis.hset(sums, 'closed', '1')
      })
    },
  }
}

/** So long a run's holds are found after the last one. */
const foundFor = 86_400_000

async function noteHold(redis: RedisClient, key: string, name: string): Promise<void> {
  await redis.sadd(key, name)
  await redis.pexpire(key, foundFor)
}

/** Lua reads "inf", and not "Infinity". */
function texts(amount: number): string {
  return amount === Number.POSITIVE_INFINITY ? 'inf' : String(amount)
}
