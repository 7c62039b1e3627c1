import type { Clock, Input, Logger } from '@allium/core'
import type { DurableRun, EventLog, RunningAgent, RunStore, ScheduleStore, SessionStore } from '@allium/store'
import type { StoredShape } from '@allium/store/code-shape'
import type { DurableAgent, DurableOptions, Limits } from '../options.ts'
import type { Task } from '../run/task.ts'
import type { DurableEvent } from './durable-event.ts'
import { agentOptionsError } from './option-errors.ts'
import type { Queues } from './queues.ts'
import type { UnloggedEnds } from './unlogged-ends.ts'

/** What the runs of one `durable()` share in this process. Its users name the part that they touch. */
export interface Host extends AgentCode, Stores, Limits {
  readonly queues: Queues
  readonly clock: Clock
  readonly logger: Logger
  /** The name of this process, for operators. */
  readonly worker: string
  readonly resolvePrincipal: DurableOptions['resolvePrincipal']
  readonly unloggedEnds: UnloggedEnds
  /** Whether the end of a run in the event log marks it as reported. */
  readonly marksEnds: boolean
  /** Whether a turn was found in the store: it is that of the agent's sessions. */
  readonly found: { turn: boolean }
  /** Called at each poll, before runs are claimed. One returns whether it has more to do. */
  readonly pollHooks: Set<() => Promise<boolean>>
  /** Starts the turn after a handoff, once the run that handed off has ended. */
  continueRun(run: DurableRun, task: Task, input: Input): Promise<void>
  /** Reports an event to the option `onEvent`. Never throws. */
  report(event: DurableEvent): void
}

/** The agent whose runs this process executes. */
export interface AgentCode {
  readonly agent: DurableAgent
  /** The agent's name, then its former names. Runs under any of them belong to the agent. */
  readonly names: readonly string[]
  readonly version: string
  /** The versions whose runs this process continues: its own, then those that it accepts. */
  readonly versions: readonly string[]
  /** Each name with each version: the runs that this process continues. */
  readonly agents: readonly RunningAgent[]
  /** The structure of the agent's code. */
  shape(): Promise<StoredShape>
}

export interface Stores {
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly schedules: ScheduleStore | undefined
}

const hosts = new WeakMap<object, Host>()

/** Gives other entry points of this package access to the host of a `durable()`. */
export function setHost(runs: object, host: Host): void {
  hosts.set(runs, host)
}

/** @throws AlliumError `agent.options` if `durable()` of this package did not return the object */
export function hostOf(runs: object, caller: string): Host {
  const host = typeof runs === 'object' && runs !== null ? hosts.get(runs) : undefined
  if (host !== undefined) return host
  throw agentOptionsError(`${caller} takes the object that durable() returned. Pass that object itself.`)
}
