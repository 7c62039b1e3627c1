import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { type SqliteOptions, sqlite } from '@allium/store-sqlite'
import { type ManualClock, manualClock, scriptedModel } from '@allium/testing'
import { expect, onTestFinished } from 'vitest'
import { type Durable, durable, type QueueOptions } from '../../src/index.ts'
import { type ScheduleOptions, schedules } from '../../src/schedules.ts'

export const ann = { tenantId: 'acme', userId: 'ann' }
export const minute = 60_000
export const daily = {
  id: 'report',
  cron: '0 8 * * *',
  input: 'Write the report',
  principal: ann,
} satisfies ScheduleOptions

/** Processes with schedules on one store, which share the time. */
export function world({ at = '07:59', ...options }: { at?: string } & SqliteOptions = {}) {
  const clock = manualClock(Date.parse(`2026-11-27T${at}:00Z`))
  const store = sqlite(':memory:', { clock, ...options })
  const users = new Map<string, unknown>([['ann', ann]])
  const warnings: string[] = []
  const logger = { warn: (text: string) => void warnings.push(text), error: (text: string) => void warnings.push(text) }
  /** A process whose clock is not the shared one is dead. */
  const process = ({
    own = clock as ManualClock,
    answer = 'Done.' as Parameters<typeof scriptedModel>[0][number],
    resolves = true,
    perOwner = undefined as number | undefined,
    name = 'reporter',
    formerNames = [] as string[],
    queues = {} as Record<string, QueueOptions>,
  } = {}) => {
    const model = scriptedModel(Array.from({ length: 400 }, () => answer))
    const agent = new Agent({ version: '1', name, formerNames, model, clock: own }).use(
      persist({ store: store.sessions }),
    )
    const resolvePrincipal = ({ owner }: { owner: string }) => users.get(owner)
    const runs = durable(agent, {
      store,
      queues,
      lease: minute,
      clock: own,
      logger,
      ...(resolves && { resolvePrincipal }),
    })
    if (own === clock) onTestFinished(() => runs.drain())
    return { runs, model, plan: schedules(runs, { perOwner }) }
  }
  return { clock, store, users, warnings, process }
}

/** The sessions of the runs with a status, oldest first, once there are as many as expected. */
export async function untilEnded(runs: Durable, count: number, status: 'completed' | 'failed' = 'completed') {
  const ended = async () => {
    await runs.recover()
    return (await runs.list({ tenant: 'acme', status, limit: 500 })).items.map(({ key }) => key.sessionId).toReversed()
  }
  await expect.poll(ended, { timeout: 15_000 }).toHaveLength(count)
  return ended()
}
