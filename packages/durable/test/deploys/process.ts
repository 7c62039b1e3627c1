import type { Clock } from '@allium/core'
import type { EventLog, Ledger, RunStore, SessionStore } from '@allium/store'
import { type Durable, durable } from '../../src/index.ts'
import { agentOf, type Build, logger } from './builds.ts'
import type { Effects } from './layers.ts'

export const principal = { tenantId: 'acme', userId: 'ann' }

/** Where the processes of a case keep their run. */
export interface Place {
  readonly store: {
    readonly sessions: SessionStore
    readonly runs: RunStore
    readonly events: EventLog
    readonly ledger?: Ledger
  }
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

export interface ProcessSetup extends Effects {
  /** Versions whose runs it continues, too. @default none */
  readonly accepts?: readonly string[]
  /** @default 50 */
  readonly attempts?: number
  readonly clock?: Clock
  readonly lease?: number
  readonly runs?: RunStore
}

/** A process with a build. */
export function processOf(place: Place, version: string, build: Build, setup: ProcessSetup): Durable {
  const { store, name } = place
  const { clock = place.clock, lease = place.lease, runs = store.runs, accepts = [], attempts = 50 } = setup
  const { sessions, events, ledger } = store
  const agent = agentOf(build, { ...setup, name, version, sessions, ledger, clock })
  return durable(agent as never, {
    ...{ store: { sessions, events, runs }, accepts: [...accepts], lease, attempts, clock, logger },
  })
}

/** Calls `beforeStep` before each record of a step. */
export function watchedRuns(
  runs: RunStore,
  beforeStep: (lease: Parameters<RunStore['record']>[0], step: Parameters<RunStore['record']>[2]) => unknown,
): RunStore {
  const record: RunStore['record'] = async (lease, run, step) => {
    await beforeStep(lease, step)
    await runs.record(lease, run, step)
  }
  return Object.assign(Object.create(runs) as RunStore, { record })
}

/** Looks so often before time passes, too: a process waits for recorded steps that the code may still request. */
const busyLooks = 100

export async function endOf(runs: Durable, run: string, { soon, pass, lease }: Pick<Place, 'soon' | 'pass' | 'lease'>) {
  for (let look = 1; ; look++) {
    const info = await runs.get(run, { principal })
    if (info.status !== 'running' && info.status !== 'queued') return info
    await soon()
    if (look > busyLooks) await pass(lease / 10)
    if (look > 3000) throw new Error(`The run "${run}" is still ${info.status}.`)
  }
}

/** Moves a run to the version of a process. Time passes meanwhile. @param check the run stays as it is */
export async function moved(
  runs: Durable,
  run: string,
  { place, to, check = false }: { place: Place; to: string; check?: boolean },
) {
  const migration = runs.migrate(run, { principal, to, dryRun: check })
  let isOver = false
  migration.finally(() => (isOver = true)).catch(() => {})
  for (let look = 1; !isOver; look++) {
    await place.soon()
    if (look > busyLooks) await place.pass(place.lease / 10)
    if (look > 3000) throw new Error(`The rehearsal of "${run}" does not end.`)
  }
  return migration
}

/** Whether the code of a process fits a run. The run stays as it is. */
export function rehearsed(runs: Durable, run: string, { place, to }: { place: Place; to: string }) {
  return moved(runs, run, { place, to, check: true })
}

export async function stepsOf({ store, name }: Place, run: string): Promise<string[]> {
  const key = { tenant: 'acme', owner: 'ann', agent: name, sessionId: 'chat' }
  return (await store.runs.steps({ key, token: 0, version: 0 }, run)).map(({ id }) => id)
}
