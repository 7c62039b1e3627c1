import { AlliumError, type Clock, type RegisteredPrincipal, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { createRunObject, type RunObjectOptions, type RunOutput } from './object.ts'
import type { RestateAgent } from './restate-agent.ts'
import { notFound, parseRunId, runIdOf, type Task, turnIdOf } from './task.ts'
import { TaskCalls } from './task-calls.ts'
import { type DurableResult, resultOf } from './turn.ts'
import { polyfillWithResolvers } from './with-resolvers.ts'

export interface DurableRestateOptions {
  /** The URL of Restate's ingress. @default 'http://localhost:8080' */
  readonly ingress?: string | undefined
  /** Sent with each call to the ingress, such as a token. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The name of the object in Restate. @default 'allium' */
  readonly name?: string | undefined
  /**
   * Returns the current principal whenever a run starts or is taken over. Throw an AlliumError `run.principal` if the principal has
   * no access anymore. After any other error Restate retries. @default the principal of the task
   */
  readonly resolvePrincipal?: RunObjectOptions['resolvePrincipal'] | undefined
  /** Milliseconds without a recorded step after which Restate considers a run lost. @default 3_600_000 */
  readonly stepTimeout?: number | undefined
  /** @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Measures the delay until `runAt`. @default the system clock */
  readonly clock?: Clock | undefined
}

const optionKeys: KeysOf<DurableRestateOptions> = {
  ingress: true,
  headers: true,
  name: true,
  resolvePrincipal: true,
  stepTimeout: true,
  fetch: true,
  clock: true,
}

export interface StartOptions extends Omit<Task, 'idempotencyKey'> {
  /** @default a random key: each start is a separate run */
  readonly idempotencyKey?: string | undefined
  /** When the run starts, in milliseconds since the epoch. @default now */
  readonly runAt?: number | undefined
}

const startOptionKeys: KeysOf<StartOptions> = {
  principal: true,
  sessionId: true,
  input: true,
  decisions: true,
  approver: true,
  idempotencyKey: true,
  runAt: true,
}

export interface RunAccess {
  readonly principal?: RegisteredPrincipal | undefined
}

/** The status of a run. */
export type RunStatus = 'open' | 'ended'

export interface DurableRestate {
  /** The virtual object, for `serve({ services: [object] })` or any endpoint of Restate's SDK. */
  readonly object: ReturnType<typeof createRunObject>
  /**
   * Resolves once Restate has the task. The same key returns the same run.
   *
   * @throws AlliumError `run.options`, `run.key_reused`, `session.principal`, `http.status`
   */
  start(options: StartOptions): Promise<{ run: string; turnId: string; sessionId: string }>
  /** Waits for a run and returns its result. @throws AlliumError `session.not_found`; the error that the run failed with */
  attach(run: string, access: RunAccess): Promise<DurableResult>
  /** @throws AlliumError `session.not_found` */
  get(run: string, access: RunAccess): Promise<{ status: RunStatus }>
  /** Stops a run, also before it starts. Returns `false` if it has ended. @throws AlliumError `session.not_found` */
  stop(run: string, access: RunAccess): Promise<boolean>
}

/**
 * Runs an agent on Restate: one virtual object per session, one run at a time. If the process of a run is lost, Restate starts the run
 * again, and it continues at the first step that had not ended.
 *
 * @example
 * const durable = durableRestate(agent, { ingress: 'http://localhost:8080' })
 * await serve({ services: [durable.object] })
 */
export function durableRestate(agent: RestateAgent, options: DurableRestateOptions = {}): DurableRestate {
  checkOptions(options, optionKeys, 'durableRestate()', 'agent.options')
  polyfillWithResolvers()
  const { name = 'allium', resolvePrincipal = ({ principal }) => principal, stepTimeout = 3_600_000 } = options
  const calls = new TaskCalls(agent, name, options)
  return { object: createRunObject({ agent, name, resolvePrincipal, stepTimeout }), ...client(calls, options.clock) }
}

function client(calls: TaskCalls, clock: Clock = systemClock): Omit<DurableRestate, 'object'> {
  const get = async (run: string, access: RunAccess): Promise<{ status: RunStatus }> => {
    const task = taskOf(run, access)
    let status: number
    try {
      status = (await calls.invocation(task, 'output')).status
    } catch (error) {
      if (error instanceof AlliumError && error.code !== 'http.status') return { status: 'ended' }
      throw error
    }
    if (status === 404) throw notFound(run)
    return { status: status === 470 ? 'open' : 'ended' }
  }

  return {
    get,
    async start(options) {
      checkOptions(options ?? null, startOptionKeys, 'start()', 'run.options')
      const { runAt, ...given } = options
      const task = newTask(given)
      await calls.start(task, runAt === undefined ? 0 : Math.ceil(runAt - clock.now()))
      return { run: runIdOf(task), turnId: turnIdOf(task), sessionId: task.sessionId }
    },
    async attach(run, access) {
      const { value } = await calls.invocation(taskOf(run, access), 'attach')
      if (value === undefined) throw notFound(run)
      return resultOf((value as RunOutput).outcome) as DurableResult
    },
    async stop(run, access) {
      if ((await get(run, access)).status === 'ended') return false
      const task = taskOf(run, access)
      const { value } = await calls.call(task, { body: task.idempotencyKey }, 'stop')
      if (value !== true) await calls.call(task, { body: task.idempotencyKey }, 'drop', 'send')
      return true
    },
  }
}

function taskOf(run: string, { principal }: RunAccess): Task {
  return { ...parseRunId(run), principal }
}

function newTask(given: Omit<StartOptions, 'runAt'>): Task {
  if ((given.input === undefined) === (given.decisions === undefined))
    throw new AlliumError('run.options', 'start() takes either an input or decisions. Give exactly one of them.')
  if (given.idempotencyKey === '')
    throw new AlliumError('run.options', 'The idempotency key is empty. Pass a non-empty string, or omit it.')
  return { ...given, idempotencyKey: given.idempotencyKey ?? crypto.randomUUID() }
}
