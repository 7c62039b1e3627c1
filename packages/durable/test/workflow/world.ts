import type { Clock } from '@allium/core'
import { sqlite } from '@allium/store-sqlite'
import { type ManualClock, manualClock } from '@allium/testing'
import { afterEach } from 'vitest'
import { type Durable, type DurableAgent, type DurableOptions, durable } from '../../src/index.ts'

export const principal = { tenantId: 'acme', userId: 'ann' }
export const logger = { debug() {}, info() {}, warn() {}, error() {} }

const open: { runs: Durable; clock: ManualClock }[] = []
afterEach(async () => {
  for (const { runs, clock } of open.splice(0)) {
    const drained = runs.drain({ timeout: 1 })
    await clock.advance(2)
    await drained
  }
})

/** Processes on one store. The clock of a dead one stands still, and nothing that it began ends. */
export function world() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const process = (
    agent: DurableAgent,
    { own = clock, ...options }: { own?: Clock } & Partial<DurableOptions> = {},
  ) => {
    const runs = durable(agent, { store, lease: 1000, clock: own, logger, ...options })
    if (own === clock) open.push({ runs, clock })
    return runs
  }
  return { clock, store, process }
}

/** Waits until the run has ended or waits for a decision. */
export async function ended(runs: Durable, run: string) {
  for await (const _ of runs.attach(run, { principal }));
  return runs.get(run, { principal })
}

/** Waits for a condition, without time. */
export async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve))
}
