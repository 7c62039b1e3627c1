import type { Logger } from '@allium/core'
import { checkAmount, type Ledger, type LedgerBalance, postedAmount, type Reservation } from '@allium/store'
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
  const ledger = new RedisLedger(client, logger)
  return {
    lossy: true,
    reserve: (request) => ledger.reserve(request),
    settle: (reservation, spent) => ledger.settle(reservation, spent),
    balance: (account) => ledger.balance(account),
    holds: (run) => ledger.holds(run),
    close: (account) => ledger.close(account),
  }
}

class RedisLedger {
  readonly #client: Client
  readonly #logger: Pick<Logger, 'warn'>
  #hasWarned = false

  constructor(client: Client, logger: Pick<Logger, 'warn'>) {
    this.#client = client
    this.#logger = logger
  }

  async reserve(request: Parameters<Ledger['reserve']>[0]): Promise<Reservation | undefined> {
    const { id, account, amount, limit, endsIn, ttl, run } = request
    checkAmount(amount)
    checkName('id of a reservation', id)
    this.#warnOnce()
    if (run !== undefined) {
      const name = JSON.stringify([account, id])
      await this.#client.command((redis) => indexHold(redis, this.#runKey(run), name))
    }
    const values = [id, toText(amount), toText(limit), wholeMs(endsIn), settledTtl, wholeMs(ttl)]
    const held = await this.#client.runScript(reserveScript, this.#keysOf(account), ...values)
    return held === null ? undefined : { id, account, amount: Number(held) }
  }

  async settle({ id, account }: Reservation, outcome: number): Promise<void> {
    const spent = postedAmount(outcome)
    checkName('id of a reservation', id)
    this.#warnOnce()
    await this.#client.runScript(settleScript, this.#keysOf(account), id, toText(spent), settledTtl)
  }

  async balance(account: string): Promise<LedgerBalance> {
    const [spent, reserved] = (await this.#client.runScript(balanceScript, this.#keysOf(account))) as [string, string]
    return { spent: Number(spent ?? 0), reserved: Math.max(0, Number(reserved ?? 0)) }
  }

  async holds(run: string): Promise<Reservation[]> {
    const names = await this.#client.command((redis) => redis.smembers(this.#runKey(run)))
    const reservations = names.map(async (name): Promise<Reservation[]> => {
      const [account, id] = JSON.parse(name) as [string, string]
      const [, holds = ''] = this.#keysOf(account)
      const amount = await this.#client.command((redis) => redis.hget(holds, id))
      return amount === null ? [] : [{ id, account, amount: Number(amount) }]
    })
    return (await Promise.all(reservations)).flat()
  }

  async close(account: string): Promise<void> {
    const [sums = '', holds = '', settled = ''] = this.#keysOf(account)
    await this.#client.command(async (redis) => {
      if ((await redis.hlen(holds)) === 0) return await redis.del(sums, settled)
      return await redis.hset(sums, 'closed', '1')
    })
  }

  #keysOf(account: string): string[] {
    const slotParts = ['ledger', checkName('account', account)]
    return ['sums', 'holds', 'settled', 'ends', 'over'].map((part) => this.#client.key(slotParts, part))
  }

  #runKey(run: string): string {
    return this.#client.key(['ledger', checkName('run of a reservation', run)], 'run')
  }

  #warnOnce(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    try {
      this.#logger.warn(
        'The ledger of redis() is lossy: after a flush, an eviction or a restart of Redis, it forgets what was spent. Use @allium/store-postgres or @allium/store-sqlite for budgets that matter.',
      )
    } catch {
      // A failing logger must not fail a post.
    }
  }
}

/** An empty text stands for no time. */
function wholeMs(ms: number | undefined): number | '' {
  return ms === undefined ? '' : Math.ceil(ms)
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
