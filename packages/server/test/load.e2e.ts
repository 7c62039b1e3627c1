import { afterAll, expect, test } from 'vitest'
import { ownServer } from '../../store-redis/test/server.ts'
import { load } from './load/load.ts'
import { underStreams } from './load/streams.ts'

const redis = await ownServer()
afterAll(() => redis?.end())

const tenth = { streams: 50, seconds: 6, tell: console.log }

test('a tenth of the load brings no error, and no reader that keeps much', { timeout: 300_000 }, async () => {
  // Times are judged by `npm run load`, which has the machine to itself: here other suites run beside it.
  const judged = (await load({ ...tenth, requests: 100 })).filter(({ name }) => !/CPU|p99/.test(name))
  expect(judged).toHaveLength(4)
  expect(judged.filter(({ ok }) => !ok)).toEqual([])
})

test.skipIf(redis === undefined)('nor with the log in Redis', { timeout: 300_000 }, async () => {
  expect((await underStreams('redis', { ...tenth, redis: redis?.url })).faults).toEqual([])
})
