import { script } from './client.ts'

/**
 * All scripts: KEYS are the account's sums, its holds by id, settled ids by time, hold ids by expiry, and expired ids that are not
 * settled. Expired holds are freed first.
 */
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.17g', number) end
local function sum(name) return tonumber(redis.call('HGET', KEYS[1], name) or '0') end
local function amountOf(id) return tonumber(redis.call('HGET', KEYS[2], id) or '0') end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now)) do
  redis.call('ZREM', KEYS[4], id)
  redis.call('SADD', KEYS[5], id)
  redis.call('HSET', KEYS[1], 'reserved', text(sum('reserved') - amountOf(id)))
end
`

/**
 * ARGV: id, amount, limit, milliseconds until the account ends or '', retention of settled ids in milliseconds, milliseconds of the hold or
 * ''.
 */
export const reserveScript = script(`${now}
local amount = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - tonumber(ARGV[5]))
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'ends', text(now + tonumber(ARGV[4]))) end
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then
  if ARGV[6] == '' then return known end
  if redis.call('SREM', KEYS[5], ARGV[1]) == 1 then
    redis.call('HSET', KEYS[1], 'reserved', text(sum('reserved') + tonumber(known)))
  end
  redis.call('ZADD', KEYS[4], now + tonumber(ARGV[6]), ARGV[1])
  return known
end
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return ARGV[2] end
local limit = ARGV[3] == 'inf' and math.huge or tonumber(ARGV[3])
if sum('spent') + sum('reserved') + amount > limit then return false end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[1], 'reserved', text(sum('reserved') + amount))
if ARGV[6] ~= '' then redis.call('ZADD', KEYS[4], now + tonumber(ARGV[6]), ARGV[1]) end
for i = 1, 3 do redis.call('PERSIST', KEYS[i]) end
return ARGV[2]`)

/** ARGV: id, amount spent, retention of settled ids in milliseconds. An account that ends is deleted once it has no holds. */
export const settleScript = script(`${now}
local held = redis.call('HGET', KEYS[2], ARGV[1])
if not held then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], now, ARGV[1])
local isFree = redis.call('HLEN', KEYS[2]) == 0
redis.call('ZREM', KEYS[4], ARGV[1])
local isOver = redis.call('SREM', KEYS[5], ARGV[1]) == 1
local reserved = isFree and 0 or sum('reserved') - (isOver and 0 or tonumber(held))
redis.call('HSET', KEYS[1], 'spent', text(sum('spent') + tonumber(ARGV[2])), 'reserved', text(reserved))
if not isFree then return 1 end
if redis.call('HGET', KEYS[1], 'closed') then
  redis.call('DEL', KEYS[1], KEYS[3])
  return 1
end
local ends = redis.call('HGET', KEYS[1], 'ends')
if ends then
  redis.call('PEXPIREAT', KEYS[1], text(math.max(now + 1, math.floor(tonumber(ends)))))
end
redis.call('PEXPIRE', KEYS[3], ARGV[3])
return 1`)

/** Returns the amounts spent and held. */
export const balanceScript = script(`${now}
return { text(sum('spent')), text(sum('reserved')) }`)
