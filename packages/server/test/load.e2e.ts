import { expect, test } from 'vitest'
import { ownServer } from '../../store-redis/test/server.ts'
import { load } from './load/load.ts'

test('a tenth of the load brings no error, and no reader that keeps much', {
  timeout: 300_000,
}, async () => {
  const redis = await ownServer()
  try {
    const figures = await load({ streams: 50, seconds: 6, requests: 100, redis: redis?.url, tell: console.log })
    // Times are judged by `npm run load`, which has the machine to itself: here other suites run beside it.
    const judged = figures.filter(({ name }) => !/CPU|p99/.test(name))
    expect(judged.length).toBeGreaterThanOrEqual(redis === undefined ? 4 : 5)
    expect(judged.filter(({ ok }) => !ok)).toEqual([])
  } finally {
    await redis?.end()
  }
})
