import { AlliumError, type RegisteredPrincipal } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import { encodeOutcome } from '@allium/store'
import { handlers, type ObjectContext, type ObjectSharedContext, object } from '@restatedev/restate-sdk'
import type { RestateAgent } from './restate-agent.ts'
import { recorded } from './run-with-journal.ts'
import { agentOfKey, type Task, taskOf } from './task.ts'
import { toRestateError } from './terminal-errors.ts'
import { runTurn, type TurnOutput } from './turn.ts'

export interface RunObjectOptions {
  /** Runs the tasks. */
  readonly agent: RestateAgent
  readonly name: string
  readonly resolvePrincipal: (task: Task) => RegisteredPrincipal | undefined | Promise<RegisteredPrincipal | undefined>
  readonly stepTimeout: number
}

/** The active run of an object. */
export interface ActiveRun {
  readonly key: string
  readonly invocation: string
  /** The digest of its task, which detects a key that is reused for another task. */
  readonly task: string
}

/** The output of the handler `run`. */
export interface RunOutput {
  readonly outcome: string
  readonly task: string
}

/** Returns a virtual object of Restate for sessions. A session has one run at a time, and shared handlers read and stop it. */
export function createRunObject(options: RunObjectOptions) {
  const { name, stepTimeout } = options
  return object({
    name,
    handlers: {
      run: (ctx: ObjectContext, text: string) => run(ctx, text, options),
      drop: async (ctx: ObjectContext, key: string) => ctx.set(`dropped:${key}`, true),
      stop: handlers.object.shared(stop),
      running: handlers.object.shared((ctx: ObjectSharedContext) => ctx.get<ActiveRun>('running')),
    },
    options: { abortTimeout: stepTimeout },
  })
}

async function run(ctx: ObjectContext, text: string, options: RunObjectOptions): Promise<RunOutput> {
  checkAgent(ctx, options)
  const [task, digest] = [taskOf(text), await digestOf(text)]
  const key = task.idempotencyKey
  if ((await ctx.get<boolean>(`dropped:${key}`)) === true) {
    ctx.clear(`dropped:${key}`)
    return { task: digest, outcome: encodeOutcome({ error: new DOMException('The run was stopped.', 'AbortError') }) }
  }
  ctx.set('running', { key, invocation: ctx.request().id, task: digest } satisfies ActiveRun)
  try {
    return { task: digest, outcome: await runTask(ctx, task, options) }
  } finally {
    ctx.clear('running')
  }
}

/** Rejects sessions of other agents. Two agents whose objects have the same name would run each other's sessions. */
function checkAgent({ key }: ObjectContext, { agent, name }: RunObjectOptions): void {
  const agentName = agentOfKey(key)
  if (agentName === agent.sessionNames[0]) return
  throw toRestateError(
    new AlliumError(
      'run.options',
      `The Restate object "${name}" runs the agent "${agent.name}", but was called for a session of the agent "${agentName}". Give each durableRestate() its own name.`,
    ),
  )
}

async function runTask(ctx: ObjectContext, task: Task, { agent, resolvePrincipal }: RunObjectOptions): Promise<string> {
  const snapshot = await ctx.get<string>('session')
  const output = await recorded(ctx, async (journal, signal) => {
    try {
      const principal = await resolvePrincipal(task)
      return JSON.stringify(await runTurn({ agent, task, principal, snapshot }, journal, signal))
    } catch (error) {
      throw toRestateError(error)
    }
  })
  const { outcome, snapshot: newSnapshot } = JSON.parse(output) as TurnOutput
  if (newSnapshot !== undefined) ctx.set('session', newSnapshot)
  return outcome
}

async function stop(ctx: ObjectSharedContext, key: string): Promise<boolean> {
  const running = await ctx.get<ActiveRun>('running')
  if (running?.key !== key) return false
  ctx.cancel(running.invocation as Parameters<typeof ctx.cancel>[0])
  return true
}
