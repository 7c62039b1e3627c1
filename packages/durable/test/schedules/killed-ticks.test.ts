import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryEventLog, type ScheduleStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { seeded } from '../../../testing/src/conformance/random.ts'
import { durable } from '../../src/index.ts'
import { schedules } from '../../src/schedules.ts'
import { ann, minute } from './world.ts'

const seeds = Array.from({ length: 8 }, (_, i) => i + 1)
const start = Date.parse('2026-11-27T08:00:30Z')
const ticks = 10

/**
 * A process that dies at a random call of its store, before the call or after it. From then on, nothing that it does ends. Some changes of
 * schedules are sent late, by a process that was suspended.
 */
function mortal<T extends object>(part: T, dies: () => boolean, life: { dead: boolean }): T {
  const never = () => new Promise<never>(() => {})
  return new Proxy(part, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        life.dead ||= dies()
        if (life.dead) return never()
        const result = method.apply(target, args)
        if (!(result instanceof Promise)) return result
        return result.then((value) => {
          life.dead ||= dies()
          return life.dead ? never() : value
        })
      }
    },
  })
}

it.each(seeds)('starts exactly one run for each tick while processes are killed at any call, seed %i', async (seed) => {
  const random = seeded(seed)
  const clock = manualClock(start)
  const store = sqlite(':memory:', { clock })
  // The log of a dead process would go on polling for signals.
  const events = memoryEventLog()
  let isOver = false
  const lateSchedules: ScheduleStore = {
    ...store.schedules,
    async advance(...change) {
      if (!isOver && random.below(4) === 0) await new Promise<void>((resolve) => clock.after(50_000, resolve))
      return store.schedules.advance(...change)
    },
  }
  const birth = (dies: () => boolean) => {
    const own = manualClock(clock.now())
    const life = { dead: false, own }
    const parts = { sessions: store.sessions, runs: store.runs, schedules: lateSchedules, events }
    const mortals = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, mortal(part, dies, life)]))
    const model = scriptedModel(Array.from({ length: 200 }, () => 'Done.'))
    const agent = new Agent({ version: '1', model, clock: own }).use(
      persist({ store: mortals.sessions as typeof store.sessions }),
    )
    const logger = { warn() {}, error() {} }
    const options = { resolvePrincipal: () => ann, lease: 20_000, attempts: 50, clock: own, logger }
    const runs = durable(agent, { store: mortals as typeof parts, ...options })
    return { life, runs, plan: schedules(runs) }
  }
  const immortal = birth(() => false)
  await immortal.plan.create({ id: 'tick', cron: '* * * * *', missed: 'all', input: 'Go', principal: ann })
  await immortal.runs.drain()
  let kills = 0
  const mortalOne = () => birth(() => random.below(25) === 0)
  const crew = [mortalOne(), mortalOne(), mortalOne()]
  const step = async (ms: number, all: readonly ReturnType<typeof birth>[]) => {
    await clock.advance(ms)
    await Promise.all(all.filter(({ life }) => !life.dead).map(({ life }) => life.own.advance(ms)))
  }
  while (clock.now() < start + ticks * minute) {
    await step(2000 + random.below(12_000), crew)
    for (const [i, { life }] of crew.entries())
      if (life.dead && random.below(2) === 0) {
        kills++
        crew[i] = mortalOne()
      }
  }
  for (const { life } of crew) life.dead = true
  isOver = true
  const last = birth(() => false)
  const end = clock.now()
  const expected = Array.from({ length: Math.floor((end - start - minute / 2) / minute) + 1 }, (_, i) => {
    return `tick:${new Date(start + minute / 2 + i * minute).toISOString()}`
  })
  const sessionsOf = async () => {
    await step(10_000, [last])
    const { items } = await store.runs.list({ tenant: 'acme', status: 'completed', limit: 500 })
    return items.map(({ key }) => key.sessionId).toReversed()
  }
  await expect.poll(sessionsOf, { timeout: 15_000 }).toEqual(expect.arrayContaining(expected))
  const { items } = await store.runs.list({ tenant: 'acme', limit: 500 })
  const sessions = items.map(({ key }) => key.sessionId)
  expect(sessions).toEqual([...new Set(sessions)])
  expect(kills).toBeGreaterThan(2)
  await last.runs.drain()
})
