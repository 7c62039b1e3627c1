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

it('guard.pii arms a timer to load placeholders for the first value, and one to save new ones', async () => {
  const without = await timersOf('Hi')
  expect((await timersOf('Hi', vault)) - without).toBe(0)
  expect((await timersOf('I am ann@acme.com', vault)) - without).toBe(2)
})

it('guard.pii reads its vault in a turn that finds a value, and in each turn after a placeholder', async () => {
  const loads: number[] = []
  let values: Record<string, string> | undefined
  const vault: PiiVault = {
    load: async () => {
      loads.push(turn)
      return values
    },
    save: async (_, saved) => void (values = saved),
  }
  const { agent } = scene(Array(4).fill('Hello.'), pii({ vault }) as unknown as Middleware[])
  const session = agent.session()
  let turn = 0
  for (const input of ['Hi', 'I am ann@acme.com', 'Thanks', 'and bob@acme.com']) {
    turn++
    await session.run(input)
  }
  expect(loads).toEqual([2, 3, 4])
  expect(values).toMatchObject({ '[EMAIL_1]': 'ann@acme.com', '[EMAIL_2]': 'bob@acme.com' })
})
