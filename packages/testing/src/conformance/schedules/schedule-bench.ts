import type {
  NewDurableRun,
  NewSchedule,
  RunStore,
  ScheduleKey,
  ScheduleStore,
  SessionStore,
  StoredSchedule,
} from '@allium/store'
import { check } from '../check.ts'
import { nowOf } from '../store/bench.ts'

/** A schedule store, and the run and session stores that belong to it. */
export interface ScheduleStoreParts {
  readonly schedules: ScheduleStore
  readonly runs: RunStore
  readonly sessions: SessionStore
}

/** The test bench of a case. */
export interface ScheduleBench extends ScheduleStoreParts {
  /** The same data as another process sees it; the parts themselves if they cannot be opened again. */
  other: ScheduleStoreParts
  /** The duration of a claim, in milliseconds. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type ScheduleCases = Readonly<Record<string, (bench: ScheduleBench) => Promise<void>>>

export const ann = { tenant: 'acme', owner: 'ann' } as const
export const limits = { agents: ['agent'], perOwner: 5 } as const

export function scheduleOf(id: string, nextAt: number, more: Partial<NewSchedule> = {}): NewSchedule {
  const plan = { cron: '0 8 * * *', tz: 'Europe/Berlin', missed: 'latest', request: { input: id } } as const
  return { ...ann, id, agent: 'agent', ...plan, nextAt, ...more }
}

/** Stores a schedule whose next tick is `in` milliseconds from now. */
export async function put(
  bench: ScheduleBench,
  id: string,
  { in: ms = 0, ...more }: Partial<NewSchedule> & { in?: number } = {},
): Promise<StoredSchedule> {
  return bench.schedules.put(scheduleOf(id, (await now(bench)) + ms, more), limits)
}

export function now({ sessions, other, lease, wait }: ScheduleBench): Promise<number> {
  return nowOf({ store: sessions, other: other.sessions, lease, wait })
}

/** Claims the due schedules of the agent, for longer than a case takes. */
export function claim(
  { lease }: ScheduleBench,
  { schedules }: ScheduleStoreParts,
  { limit = 10, ms = lease * 100 } = {},
) {
  return schedules.claimDue({ agents: ['agent'], limit, ms })
}

/** Returns a run for a tick of a schedule of Ann. */
export function runFor(run: string): NewDurableRun {
  const key = { ...ann, agent: 'agent', sessionId: run }
  return { run, key, agent: 'agent', version: '1', task: { input: run } }
}

/** Returns the current schedule. */
export async function current({ schedules }: ScheduleStoreParts, { tenant, owner, id }: ScheduleKey) {
  const found = await schedules.get({ tenant, owner, id })
  check(found !== undefined, `get() returns the schedule "${id}"`)
  return found.schedule
}
