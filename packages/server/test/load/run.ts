import { ownServer } from '../../../store-redis/test/server.ts'
import { load } from './load.ts'

const tenth = process.argv.includes('--tenth')
const redis = await ownServer()
if (redis === undefined) console.log('There is no redis-server here: what needs one is left out.')
const size = tenth ? { streams: 50, seconds: 6, requests: 200 } : { streams: 500, seconds: 60, requests: 1000 }
const figures = await load({ ...size, redis: redis?.url, tell: console.log })
await redis?.end()

console.log()
for (const { name, value, ok } of figures) console.log(`${ok ? ' ok ' : 'FAIL'}  ${name}: ${value}`)
const failed = figures.filter(({ ok }) => !ok).length
process.exitCode = failed === 0 ? 0 : 1
console.log(failed === 0 ? '\nLoad: passed' : `\nLoad: failed, ${failed} of ${figures.length} figures`)
