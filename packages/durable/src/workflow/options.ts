import type { AgentOptions } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { AgentStore } from '@allium/store'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { WorkflowContext } from './context.ts'
import { invalidOption } from './errors.ts'

/** The options of an agent that a workflow has, too. */
type OfAgent = Pick<
  AgentOptions,
  'formerNames' | 'owner' | 'approvals' | 'clock' | 'ids' | 'logger' | 'onBusy' | 'readerTimeout' | 'sessionIdleTimeout'
>

export interface WorkflowOptions<S extends StandardSchemaV1 | undefined, R> extends OfAgent {
  /** Names its sessions and durable runs. Workflows and agents that share a store need different names. */
  name: string
  /** The version of the code. A run belongs to the version that began it. */
  version: string
  /** Any synchronous Standard Schema. It checks and types `ctx.input`. @default no check; the input is unknown */
  schema?: S
  /** The code. Its return value, as plain data, is the result. */
  run(ctx: WorkflowContext<InputOf<S>>): R | Promise<R>
  /** Stores the sessions, as for `new Agent()` of `allium`. `durable()` needs it. @default none; runs stay in this process */
  store?: AgentStore | undefined
  /** Most steps that run one after the other. Then the run ends as `stopped`. @default 1_000 */
  maxSteps?: number | undefined
  /** How many steps run at the same time. @default 8 */
  concurrency?: number | undefined
}

type InputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown

const known: KeysOf<WorkflowOptions<undefined, unknown>> = {
  name: true,
  version: true,
  schema: true,
  run: true,
  store: true,
  maxSteps: true,
  concurrency: true,
  formerNames: true,
  owner: true,
  approvals: true,
  clock: true,
  ids: true,
  logger: true,
  onBusy: true,
  readerTimeout: true,
  sessionIdleTimeout: true,
}
const elsewhere = {
  'steps nodes edges graph': 'Steps are code: await ctx.step(name, fn) in run(ctx).',
  'model tools instructions': 'They belong to an agent: await ctx.agent(agent, input) in run(ctx).',
  'input inputSchema': 'The schema of the input is the option schema.',
  'execute handler': 'The code of a workflow is the option run.',
  'retry timeout': 'They belong to a step: ctx.step(name, fn, { retry, timeout }).',
}

/** @throws AlliumError `options.invalid` */
export function checkWorkflow(options: object): void {
  checkOptions(options ?? null, known, 'workflow()', 'options.invalid', elsewhere)
  const { name, version, run, schema } = options as Partial<WorkflowOptions<StandardSchemaV1, unknown>>
  for (const [option, value] of Object.entries({ name, version }))
    if (typeof value !== 'string' || value === '')
      throw invalidOption(`workflow() needs a ${option}, such as ${option}: "${option === 'name' ? 'refund' : '1'}".`)
  if (typeof run !== 'function')
    throw invalidOption(`The workflow "${name}" needs its code: run: async (ctx) => { … }.`)
  if (schema !== undefined && typeof schema['~standard']?.validate !== 'function')
    throw invalidOption(`The option schema of the workflow "${name}" is no Standard Schema (zod, valibot, arktype).`)
}
