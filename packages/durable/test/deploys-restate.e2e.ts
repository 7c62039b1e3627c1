import { afterAll, expect, it } from 'vitest'
import { ownServer } from '../../durable-restate/test/server.ts'
import { tryCases } from './deploys/all-cases.ts'
import { deployedOnRestate } from './deploys/on-restate.ts'

const server = await ownServer()
afterAll(() => server.stop(), 60_000)

it('a deploy beside the old build on Restate leaves its runs to it', async () => {
  const { lost, stopped } = await tryCases((of) => deployedOnRestate(of, server, 'beside'), { usual: 6, lanes: 3 })
  expect([lost > 0, stopped]).toEqual([true, 0])
}, 600_000)

it('a deploy in place of the old build on Restate repeats or hides no effect, and no difference of the code', async () => {
  const { lost, stopped } = await tryCases((of) => deployedOnRestate(of, server, 'in place'), { usual: 8, lanes: 4 })
  expect([lost > 0, stopped > 0]).toEqual([true, true])
}, 600_000)
