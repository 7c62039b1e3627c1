import { script } from './client.ts'

/**
 * KEYS of a run: its state (`run`), its events as a stream, its signals by number, the ids of its steers. A fifth is the session's
 * latest run, a sixth the ids of its runs by expiry time.
 */
const runExists = "redis.call('EXISTS', KEYS[1]) == 1"

/**
 * ARGV: turn id, id and body of the batch, the request id, and eight integers in one argument, because each argument costs the client
 * memory: epoch, number of events, 1 if the batch ends the run, retention in milliseconds after its end and while it is open, the number of
 * events that the appender knows, 1 if the run must exist, and the current time.
 *
 * If Redis has fewer events than the appender knows, it has lost some, so the rest is deleted too and no reader skips the gap. A repeated
 * request, sent again because its reply was lost, changes nothing.
 */
export const appendScript = script(`
local numbers = {}
for number in string.gmatch(ARGV[5], '%S+') do numbers[#numbers + 1] = number end
local epochText, count, ends, endedTtl, openTtl, knownText, mustExist, now = unpack(numbers)
local epoch, knows, request = tonumber(epochText), tonumber(knownText), ARGV[4]
local seq = tonumber(redis.call('HGET', KEYS[1], 'seq') or '-1')
if redis.call('HGET', KEYS[1], 'request') == request then
  local head = redis.call('HMGET', KEYS[1], 'lastSignal', 'listener')
  return {'appended', seq, head[1], head[2]}
end
if seq < knows and knows > 0 then
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
  if redis.call('GET', KEYS[5]) == ARGV[1] then redis.call('DEL', KEYS[5]) end
  return {'lost'}
end
if not (${runExists}) then
  if mustExist == '1' then return {'gone'} end
  seq = 0
  redis.call('HSET', KEYS[1], 'seq', 0, 'lastSignal', 0, 'listener', 0, 'epoch', epochText)
  local before = redis.call('GET', KEYS[5])
  if before then redis.call('HSET', KEYS[1], 'before', before) end
  redis.call('SET', KEYS[5], ARGV[1])
end
local current = tonumber(redis.call('HGET', KEYS[1], 'epoch'))
if epoch < current then return {'taken'} end
if epoch == current and redis.call('HGET', KEYS[1], 'ended') then return {'ended'} end
redis.call('HSET', KEYS[1], 'epoch', epochText)
redis.call('HDEL', KEYS[1], 'ended')
if ends == '1' then
  local stop = redis.call('HGET', KEYS[1], 'stop')
  if stop then redis.call('HDEL', KEYS[3], stop) end
  redis.call('HDEL', KEYS[1], 'stop')
  local undelivered = redis.call('HGETALL', KEYS[3])
  if #undelivered > 0 then return {'undelivered', undelivered} end
end
if count ~= '0' then
  seq = seq + tonumber(count)
  redis.call('XADD', KEYS[2], seq .. '-0', 'id', ARGV[2], 'count', count, 'body', ARGV[3])
end
redis.call('HSET', KEYS[1], 'seq', seq, 'request', request)
local ttl = openTtl
if ends == '1' then
  redis.call('HSET', KEYS[1], 'ended', 1)
  ttl = endedTtl
end
for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], ttl) end
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', now)
redis.call('ZADD', KEYS[6], now + ttl, ARGV[1])
local last = redis.call('ZREVRANGE', KEYS[6], 0, 0, 'WITHSCORES')
redis.call('PEXPIRE', KEYS[6], last[2] - now)
if redis.call('GET', KEYS[5]) == ARGV[1] then redis.call('PEXPIRE', KEYS[5], ttl) end
local head = redis.call('HMGET', KEYS[1], 'lastSignal', 'listener')
return {'appended', seq, head[1], head[2]}`)

/** ARGV: the id of a steer or '', '1' for a stop, the signal, and its retention in milliseconds. */
export const addSignalScript = script(`
if not (${runExists}) or redis.call('HGET', KEYS[1], 'ended') then return 0 end
if ARGV[2] == '1' then
  if redis.call('HGET', KEYS[1], 'stop') then return 1 end
elseif redis.call('SADD', KEYS[4], ARGV[1]) == 0 then
  return 1
end
local n = redis.call('HINCRBY', KEYS[1], 'lastSignal', 1)
if ARGV[2] == '1' then redis.call('HSET', KEYS[1], 'stop', n) end
redis.call('HSET', KEYS[3], n, ARGV[3])
for i = 3, 4 do redis.call('PEXPIRE', KEYS[i], ARGV[4]) end
return 1`)

export const listenScript = script(`
if not (${runExists}) then return 0 end
return redis.call('HINCRBY', KEYS[1], 'listener', 1)`)

/** ARGV: the listener, and the number of the signal. */
export const acknowledgeScript = script(`
if redis.call('HGET', KEYS[1], 'listener') ~= ARGV[1] then return 0 end
if redis.call('HGET', KEYS[1], 'stop') == ARGV[2] then redis.call('HDEL', KEYS[1], 'stop') end
return redis.call('HDEL', KEYS[3], ARGV[2])`)

/** ARGV: the epoch of the process that ends the run, and the numbers of the steers that it acknowledges. */
export const acknowledgeAtEndScript = script(`
local current = redis.call('HGET', KEYS[1], 'epoch')
if not current or tonumber(ARGV[1]) < tonumber(current) then return 0 end
for i = 2, #ARGV do redis.call('HDEL', KEYS[3], ARGV[i]) end
return 1`)

/** Deletes one run. Other runs of the session stay listed, and the previous one becomes the latest again. ARGV: turn id, current time. */
export const deleteRunScript = script(`
local before = redis.call('HGET', KEYS[1], 'before')
for i = 1, 4 do redis.call('DEL', KEYS[i]) end
redis.call('ZREM', KEYS[6], ARGV[1])
if redis.call('GET', KEYS[5]) ~= ARGV[1] then return 1 end
redis.call('DEL', KEYS[5])
local till = before and redis.call('ZSCORE', KEYS[6], before)
if till then redis.call('SET', KEYS[5], before, 'PX', math.max(1, till - ARGV[2])) end
return 1`)
