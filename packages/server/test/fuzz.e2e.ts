import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { fuzz } from './fuzz/fuzz.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Another seed, and more requests: `FUZZ_SEED=7 FUZZ_REQUESTS=100000`. */
const { FUZZ_SEED: seed = '1', FUZZ_REQUESTS: requests = '12000' } = process.env

test(`${requests} random requests from the schemas of all routes find no fault, and nothing stays in memory (seed ${seed})`, async () => {
  const heaps: number[] = []
  const { faults, statuses, answered, refused } = await fuzz(Number(seed), Number(requests), () => {
    collect()
    heaps.push(process.memoryUsage().heapUsed / 1_048_576)
  })
  expect(faults.slice(0, 10)).toEqual([])
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([])
  const usual = [200, 201, 202, 204, 400, 404, 405, 409, 413, 415]
  expect(usual.filter((status) => !statuses.has(status))).toEqual([])
  // Nearly all routes: some answer only what few random bodies are.
  expect([answered.size >= 30, refused.size >= 40]).toEqual([true, true])
  // Modules and compiled code come with the first worlds.
  const [early = 0, late = 0] = [heaps[Math.floor(heaps.length / 4)], heaps.at(-1)]
  expect(late - early).toBeLessThan(30)
}, 600_000)
