import { type Clock, type Middleware, systemClock } from '@allium/core'
import { expect, it } from 'vitest'
import { type PiiVault, pii } from '../src/index.ts'
import { scene } from './scene.ts'

/** Returns the number of timers of a run. */
async function timersOf(input: string, vault?: PiiVault): Promise<number> {
  let timers = 0
  const after: Clock['after'] = (...args) => {
    timers++
    return systemClock.after(...args)
  }
  const layers = pii(vault === undefined ? {} : { vault }) as unknown as Middleware[]
  const { agent } = scene(['Hello.'], layers, { clock: { ...systemClock, after } })
  await agent.run(input)
  return timers
}

const vault: PiiVault = { load: async () => undefined, save: async () => {} }

it('guard.pii arms a timer to load placeholders, and one to save new ones', async () => {
  const without = await timersOf('Hi')
  expect((await timersOf('Hi', vault)) - without).toBe(1)
  expect((await timersOf('I am ann@acme.com', vault)) - without).toBe(2)
})
