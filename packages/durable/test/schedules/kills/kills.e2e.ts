import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { children } from '../../../../store-postgres/test/chaos/children.ts'
import { ownServer } from '../../../../store-postgres/test/server.ts'
import { seeded } from '../../../../testing/src/conformance/random.ts'
import { ann, open, processOn } from './life.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-ticks-'))
const server = await ownServer()
const ready = await children(folder, 3, join(import.meta.dirname, 'worker.ts'))
afterAll(async () => {
  await ready.end()
  await server?.end()
  rmSync(folder, { recursive: true, force: true })
})

/** Ticks that were missed before the processes start. */
const ticks = 24
const minute = 60_000

describe.each(['sqlite', 'postgres'] as const)(
  'schedules on %s, in processes that are killed at their statements',
  (kind) => {
    it.skipIf(kind === 'postgres' && server === undefined)(
      'start exactly one run for each tick',
      async () => {
        const place = { kind, at: kind === 'sqlite' ? join(folder, 'ticks.db') : (server?.url ?? ''), schema: 'ticks' }
        const store = open(place)
        const { runs, plan } = processOn(store)
        await runs.drain()
        const { id, owner } = await plan.create({
          id: 'tick',
          cron: '* * * * *',
          missed: 'all',
          input: 'Go',
          principal: ann,
        })
        const { schedule } = (await store.schedules.get({ tenant: 'acme', owner, id })) ?? {}
        const first = (Math.floor(Date.now() / minute) - ticks) * minute
        await store.schedules.advance(schedule as never, { nextAt: first })
        const random = seeded(7)
        let [kills, isOver] = [0, false]
        const lane = async () => {
          for (; !isOver; kills++) {
            const child = await ready.take({ ...place, kill: 20 + random.below(120) })
            await Promise.race([once(child, 'exit'), over])
            child.kill('SIGKILL')
          }
        }
        let end = () => {}
        const over = new Promise<void>((resolve) => (end = resolve))
        const lanes = [lane(), lane(), lane()]
        const ended = async () => {
          const { items } = await store.runs.list({ tenant: 'acme', limit: 200 })
          return items.filter(({ status }) => status === 'completed').length
        }
        await expect.poll(ended, { timeout: 200_000, interval: 300 }).toBeGreaterThanOrEqual(ticks)
        isOver = true
        end()
        await Promise.all(lanes)
        const { items } = await store.runs.list({ tenant: 'acme', limit: 200 })
        const sessions = items.map(({ key }) => key.sessionId).toReversed()
        const expected = items.map((_, i) => `tick:${new Date(first + i * minute).toISOString()}`)
        expect([sessions, kills > 5]).toEqual([expected, true])
        for (const { key, status } of items)
          if (status === 'completed') expect((await store.sessions.load(key))?.version).toBe(1)
        await store.close()
      },
      300_000,
    )
  },
)
