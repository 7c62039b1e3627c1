import { sqlite } from '@allium/store-sqlite'
import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { tryCases } from './deploys/all-cases.ts'
import { deployed } from './deploys/deploy-case.ts'

it('no deploy repeats or hides an effect of a run that was killed at any step', async () => {
  const { stopped, moved } = await tryCases((of) => deployed(of, place()), { usual: 80 })
  expect(moved).toBeGreaterThan(0)
  expect(stopped).toBeGreaterThan(moved)
}, 300_000)

function place() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  return {
    ...{ store, clock, lease: 1000, name: 'agent' },
    pass: (ms: number) => clock.advance(ms),
    soon: () => new Promise<void>((resolve) => setImmediate(resolve)),
  }
}
