/// <reference path="./rate-limiter-redis.d.ts" />
import type { MakeRateCounter } from '@allium/store'
import { checkName } from '@allium/store-sql'
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js'
import { type Client, script } from './client.ts'

/** How long a request is remembered in milliseconds: longer than a client queues a command that it cannot send. */
const requestTtl = 30_000

/**
 * The limiter's own script counts in whole seconds, and counts a request twice if the client sends it again because the reply was lost.
 * This one uses milliseconds (https://redis.io/docs/latest/commands/pexpire/) and recognizes repeated requests. KEYS: the count, and the
 * request.
 */
const countScript = script(`
local ms = tonumber(ARGV[2])
redis.call('set', KEYS[1], 0, 'PX', ms, 'NX')
local points = redis.call('set', KEYS[2], 1, 'PX', ARGV[3], 'NX') and ARGV[1] or 0
local consumed = redis.call('incrby', KEYS[1], points)
local left = redis.call('pttl', KEYS[1])
if left == -1 then
  redis.call('pexpire', KEYS[1], ms)
  left = ms
end
return {consumed, left}`)

/** Windows in Redis, shared by all processes. A window below one second counts as a second. */
export function redisRateLimits(client: Client, prefix: string): MakeRateCounter {
  return ({ keyPrefix, points, duration }) => {
    const seconds = Math.max(1, duration)
    const limiter = new RateLimiterRedis({
      storeClient: client.redis,
      keyPrefix: `${prefix}:limit:${encodeURIComponent(keyPrefix)}:${points}`,
      points,
      duration: seconds,
    })
    const [nameOf, upsert] = [limiter.getKey.bind(limiter), limiter._upsert.bind(limiter)]
    return Object.assign(limiter, {
      /** The braces put all keys of a window into one slot of a cluster. */
      getKey: (key: string) => `{${nameOf(checkName('key of a limit', key))}}`,
      /** consume() and reward() count with this. */
      _upsert: async (key: string, count: number, ms: number, isForced?: boolean) =>
        isForced === true
          ? upsert(key, count, ms, isForced)
          : client.runScript(
              countScript,
              [key, `${key}:${crypto.randomUUID()}`],
              count,
              Math.ceil(seconds * 1000),
              requestTtl,
            ),
    })
  }
}
