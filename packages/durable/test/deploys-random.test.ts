import { sqlite } from '@allium/store-sqlite'
import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { tryCases, tryLoops } from './deploys/all-cases.ts'
import { crashed } from './deploys/crash-loop.ts'
import { deployed } from './deploys/deploy-case.ts'

it('no deploy repeats or hides an effect of a run that was killed at any step', async () => {
  const { stopped, moved } = await tryCases((of) => deployed(of, place()), { usual: 60 })
  expect([stopped > 0, moved > 0]).toEqual([true, true])
}, 1_800_000)

it('a run that loses its process in the same step again and again fails, whatever its layers record', async () => {
  await tryLoops((of) => crashed(of, place()), { usual: 8 })
}, 1_800_000)

function place() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  return {
    ...{ store, clock, lease: 1000, name: 'agent' },
    pass: (ms: number) => clock.advance(ms),
    soon: () => new Promise<void>((resolve) => setImmediate(resolve)),
  }
}
