import { expect, test } from 'vitest'
import { ownServer } from '../../store-redis/test/server.ts'
import { load } from './load/load.ts'

test('a tenth of the load brings no error, no long wait, and no reader that keeps much', {
  timeout: 300_000,
}, async () => {
  const redis = await ownServer()
  try {
    const figures = await load({ streams: 50, seconds: 6, requests: 100, redis: redis?.url, tell: console.log })
    // CPU beside a bare handler is judged by `npm run load`: in a tenth of the time the beginnings of the runs weigh too much.
    const judged = figures.filter(({ name }) => !name.includes('CPU'))
    expect(judged.length).toBeGreaterThanOrEqual(redis === undefined ? 5 : 7)
    expect(judged.filter(({ ok }) => !ok)).toEqual([])
  } finally {
    await redis?.end()
  }
})
