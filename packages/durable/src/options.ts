import {
  AlliumError,
  type Clock,
  checkOptions,
  type Decision,
  type DisplayTransform,
  type EventLog,
  type Input,
  type KeysOf,
  type Logger,
  type RunStore,
  type Session,
  type SessionKey,
  type SessionStore,
  type ToolDef,
} from '@allium/core'

/** What runs are kept in: `sqlite()` and `postgres()` give one. */
export interface DurableStore {
  readonly sessions: SessionStore
  readonly runs: RunStore
  readonly events?: EventLog | undefined
}

/** An agent, as `new Agent()` makes it: its sessions are kept in the same store. */
export interface DurableAgent {
  readonly name: string
  readonly formerNames: readonly string[]
  readonly sessionNames: readonly string[]
  readonly version: string | undefined
  init(): Promise<void>
  session(options?: { id?: string; principal?: never }): Session<unknown, unknown>
  showing(key: SessionKey): Promise<DisplayTransform>
  inspect(): { layers: readonly { name: string; order: { is?: readonly string[] } }[] }
}

/** Whose run it is. */
export interface RunOwner {
  readonly tenant: string
  readonly owner: string
  readonly sessionId: string
}

export interface DurableOptions {
  store: DurableStore
  /** @default those of the store */
  events?: EventLog | undefined
  /** Milliseconds for which a process has a run, renewed while it lasts; after a crash others wait that long. @default 10_000 */
  lease?: number | undefined
  /** How often a run is begun without a step of it being recorded, before it is failed with `run.attempts`. @default 5 */
  attempts?: number | undefined
  /** Milliseconds after which a run of another version of the agent, which nobody has come back for, is failed with `run.version`. @default 10 minutes */
  orphanAfter?: number | undefined
  /** Milliseconds that runs are kept after their end, those that failed with their steps, for `retry()`. @default 7 days */
  keepFailed?: number | undefined
  /**
   * The owner as they are now, before a run is taken over: nothing, or a throw, fails it with `run.principal`.
   * @default the principal that the run was started with
   */
  resolvePrincipal?: ((owner: RunOwner) => unknown) | undefined
  /** @default the machine's */
  clock?: Clock | undefined
  /** @default the console */
  logger?: Logger | undefined
}

/** What a run is asked. All of it is kept: plain data, no functions. */
export interface StartOptions {
  /** Who asks. @default nobody */
  principal?: unknown
  /** @default a new one */
  sessionId?: string | undefined
  /** Either this or `decisions`. */
  input?: Input | undefined
  decisions?: Readonly<Record<string, Decision>> | undefined
  /** Who decides. @default the principal */
  decider?: unknown
  /** The runtime context of the run. */
  context?: unknown
  /** What the answer must be, as a JSON Schema. */
  output?: Readonly<Record<string, unknown>> | undefined
  clientTools?: readonly ToolDef[] | undefined
  /** Asked again with the same key, the same run is given. */
  idempotencyKey?: string | undefined
  /** Milliseconds since the epoch: it is not run before. @default now */
  runAt?: number | undefined
  /** Whether a layer may begin an answer anew of which readers have a part: as the option of a run. @default 'allow' */
  resets?: 'allow' | 'refuse' | undefined
  /** Where another run has the session: it waits for its end, or is refused with `session.busy`. @default 'queue' */
  onBusy?: 'queue' | 'reject' | undefined
}

const durableOptionKeys: KeysOf<DurableOptions> = {
  store: true,
  events: true,
  lease: true,
  attempts: true,
  orphanAfter: true,
  keepFailed: true,
  resolvePrincipal: true,
  clock: true,
  logger: true,
}

/** @throws AlliumError `agent.options` */
export function checkDurableOptions(options: DurableOptions): void {
  checkOptions(options ?? null, durableOptionKeys, 'durable()', 'agent.options')
}

const startOptionKeys: KeysOf<StartOptions> = {
  principal: true,
  sessionId: true,
  input: true,
  decisions: true,
  decider: true,
  context: true,
  output: true,
  clientTools: true,
  idempotencyKey: true,
  runAt: true,
  resets: true,
  onBusy: true,
}

/** @throws AlliumError `run.options` */
export function checkStart(options: StartOptions): void {
  checkOptions(options ?? null, startOptionKeys, 'A durable run', 'run.options')
  if ((options.input === undefined) === (options.decisions === undefined))
    throw runOptionsError('A durable run takes either "input" or "decisions". Give one of them.')
  if (options.runAt !== undefined && !Number.isFinite(options.runAt))
    throw runOptionsError(
      `The option runAt is a time in milliseconds since the epoch, but ${String(options.runAt)} was given.`,
    )
}

export function runOptionsError(message: string, cause?: unknown): AlliumError {
  return new AlliumError('run.options', message, { cause })
}

/** @throws AlliumError `agent.options` for a bound that is none */
export function checkBounds(bounds: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(bounds))
    if (!(value > 0))
      throw new AlliumError('agent.options', `durable() takes ${name} as a number above 0, but ${value} was given.`)
}
