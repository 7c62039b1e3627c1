import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { type ManualClock, manualClock, scriptedModel } from '@allium/testing'
import { afterEach, expect, it, vi } from 'vitest'
import { type Durable, durable } from '../../src/index.ts'
import { type ScheduleOptions, schedules } from '../../src/schedules/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const logger = { warn() {}, error() {} }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

/** Processes with schedules on one store. The time is the same for all of them. */
function world({ at = '2026-11-27T07:58:00Z', ...options }: { at?: string; perOwner?: number } = {}) {
  const clock = manualClock(Date.parse(at))
  const store = sqlite(':memory:', { clock })
  const users = new Map<string, unknown>([['ann', principal]])
  const process = (own: ManualClock = clock) => {
    const model = scriptedModel(Array.from({ length: 400 }, () => 'Done.'))
    const agent = new Agent({ name: 'reporter', model, clock: own }).use(persist({ store: store.sessions }))
    const resolvePrincipal = ({ owner }: { owner: string }) => users.get(owner)
    const runs = durable(agent, { store, lease: 60_000, clock: own, resolvePrincipal, logger })
    if (own === clock) open.push(runs)
    return { runs, plan: schedules(runs, options), model }
  }
  return { clock, store, users, process }
}

const daily: ScheduleOptions = { id: 'report', cron: '0 8 * * *', input: 'Write the report', principal }

it('starts a run at each tick, in a session named after the tick', async () => {
  const { clock, process } = world()
  const { runs, plan } = process()
  const created = await plan.create(daily)
  expect(created).toMatchObject({
    id: 'report',
    tz: 'UTC',
    missed: 'latest',
    nextAt: Date.parse('2026-11-27T08:00:00Z'),
  })
  await clock.advance(3 * 60_000)
  await vi.waitFor(
    async () => {
      const { items } = await runs.list({ tenant: 'acme', status: 'completed' })
      expect(items.map(({ key }) => key.sessionId)).toEqual(['report:2026-11-27T08:00:00.000Z'])
    },
    { timeout: 15_000 },
  )
})
