/// <reference path="./rate-limiter-redis.d.ts" />
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js'
import type { Client } from './client.ts'

/** Makes what counts a rate: `store` of `guard.rateLimit`. */
export type MakeLimiter = (options: { keyPrefix: string; points: number; duration: number }) => RateLimiterRedis

/**
 * The limiter's own script counts in whole seconds. This one takes milliseconds: https://redis.io/docs/latest/commands/pexpire/
 * Its fourth argument is the duration in seconds.
 */
const counts = `
local ms = math.ceil(tonumber(ARGV[4]) * 1000)
redis.call('set', KEYS[1], 0, 'PX', ms, 'NX')
local consumed = redis.call('incrby', KEYS[1], ARGV[1])
local left = redis.call('pttl', KEYS[1])
if left == -1 then
  redis.call('pexpire', KEYS[1], ms)
  left = ms
end
return {consumed, left}`

/** Windows in Redis, which all processes share. One of less than a second counts as a second. */
export function redisLimits(client: Client, prefix: string): MakeLimiter {
  return ({ keyPrefix, points, duration }) =>
    new RateLimiterRedis({
      storeClient: client.redis,
      customIncrTtlLuaScript: counts,
      keyPrefix: `${prefix}:limit:${encodeURIComponent(keyPrefix)}:${points}`,
      points,
      duration: Math.max(1, duration),
    })
}
