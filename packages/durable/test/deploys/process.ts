import type { Clock } from '@allium/core'
import type { EventLog, RunStore, SessionStore } from '@allium/store'
import { type Durable, durable } from '../../src/index.ts'
import { agentOf, type Build, type Effect, logger } from './builds.ts'

export const principal = { tenantId: 'acme', userId: 'ann' }

/** Where the processes of a case keep their run. */
export interface Place {
  readonly store: { readonly sessions: SessionStore; readonly runs: RunStore; readonly events: EventLog }
  /** The clock of the processes that are not lost. */
  readonly clock: Clock
  /** Milliseconds. */
  readonly lease: number
  /** The name of the agent. Cases that share a store have names of their own. */
  readonly name: string
  /** Lets so many milliseconds pass. */
  pass(ms: number): Promise<void>
  /** Returns before the next look at a run. */
  soon(): Promise<void>
}

export interface ProcessSetup {
  onEffect(effect: Effect): void
  readonly clock?: Clock
  readonly lease?: number
  readonly runs?: RunStore
}

/** A process with a build. The second version accepts runs of the first. */
export function processOf(place: Place, version: '1' | '2', build: Build, setup: ProcessSetup): Durable {
  const { store, name } = place
  const { clock = place.clock, lease = place.lease, runs = store.runs, onEffect } = setup
  const { sessions, events } = store
  const agent = agentOf(build, { name, version, sessions, clock, onEffect })
  const accepts = version === '1' ? [] : ['1']
  return durable(agent as never, { store: { sessions, events, runs }, accepts, lease, attempts: 50, clock, logger })
}

/** Calls `beforeStep` with the lease before each record of a step. */
export function watchedRuns(
  runs: RunStore,
  beforeStep: (lease: Parameters<RunStore['record']>[0]) => unknown,
): RunStore {
  const record: RunStore['record'] = async (lease, run, step) => {
    await beforeStep(lease)
    await runs.record(lease, run, step)
  }
  return Object.assign(Object.create(runs) as RunStore, { record })
}

export async function endOf(runs: Durable, run: string, { soon }: Pick<Place, 'soon'>) {
  for (;;) {
    const info = await runs.get(run, { principal })
    if (info.status !== 'running' && info.status !== 'queued') return info
    await soon()
  }
}

export async function stepsOf({ store, name }: Place, run: string): Promise<string[]> {
  const key = { tenant: 'acme', owner: 'ann', agent: name, sessionId: 'chat' }
  return (await store.runs.steps({ key, token: 0, version: 0 }, run)).map(({ id }) => id)
}
