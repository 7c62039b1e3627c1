import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { describe, isPrintable } from '../errors/describe.ts'
import { boundFault, checkOptions, type KeysOf, keysOf } from '../errors/known-options.ts'
import {
  type AdaptModel,
  checkSettings,
  describeModel,
  knownModel,
  type ModelRef,
  type ResolveModel,
  type Settings,
  settingsElsewhere,
} from '../model/model.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import { type Ids, randomIds } from '../ports/ids.ts'
import { directJournal, type Journal } from '../ports/journal.ts'
import { consoleLogger, type Logger, safeLogger } from '../ports/logger.ts'
import type { RegisteredPrincipal } from '../ports/register.ts'
import type { ReadUntrustedSchema, Validate } from '../ports/validate.ts'
import type { CallTypes } from '../tool/call-record.ts'
import { schemaFault } from '../tool/standard-schema.ts'
import type { ToolList } from '../tool/tool.ts'
import type { AgentSetup, ApprovalOptions, Instructions } from './scope/agent-scope.ts'

export interface AgentOptions<
  C extends StandardSchemaV1 | undefined = undefined,
  P extends StandardSchemaV1 | undefined = undefined,
  Calls extends readonly CallTypes[] = readonly CallTypes[],
> {
  /** Agents that share a store need different names: sessions, approvals and durable runs belong to the name. @default 'agent' */
  name?: string | undefined
  /**
   * Its former names. The agent takes over the sessions stored under them, and accepts approvals for calls that were suspended
   * under them. A renamed agent without this option starts with no sessions. @default none
   */
  formerNames?: readonly string[] | undefined
  /**
   * Shares the session history with other agents of the same group. Each agent still decides only the calls that it suspended
   * itself, with its own `approvals`. @default none: a session belongs to one agent
   */
  sessionGroup?: string | undefined
  /** A model, an AI SDK model that `adaptModel` accepts, or a string that `resolveModel` knows. */
  model: ModelRef
  /** The first system message of each model call. */
  instructions?: Instructions | undefined
  /** Tools made with `defineTool` type the calls in events, approvals and results. */
  tools?: ToolList<Calls> | undefined
  /** Schema of the runtime context. Types `ctx.context` and the `context` of runs and sessions. */
  context?: C | undefined
  /** Schema of the principal. Types `ctx.principal` and the `principal` of sessions. */
  principal?: P | undefined
  /**
   * Returns the owner of a principal's sessions. A session id only finds sessions of the same owner. Return the team's id for
   * sessions that a team shares.
   *
   * @default the owner of the delegating agent, else the principal's `userId`, else its `user`
   */
  owner?(
    principal: P extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<P> : RegisteredPrincipal,
  ): string | undefined
  settings?: Settings | undefined
  /** Maximum steps of one turn. Then it stops with the reason `max_steps`. @default 25 */
  maxSteps?: number | undefined
  /** How many tools of one step run at the same time. 1 runs them one after the other. @default 8 */
  toolConcurrency?: number | undefined
  /** Timeout of one `execute`, in milliseconds. @default 30_000 */
  toolTimeout?: number | undefined
  /** How long layers may take to return after a run ends early or an attempt is abandoned, in milliseconds. @default 2_000 */
  gracePeriod?: number | undefined
  /** Whether a run is rejected or queued while the session runs another one. @default 'reject' */
  onBusy?: 'reject' | 'queue' | undefined
  /**
   * How long the run pauses when its reader stops reading (for example after a lost connection), in milliseconds.
   * After that the run continues and buffers its events. `false` pauses without a limit. @default 30_000
   */
  readerTimeout?: number | false | undefined
  /**
   * Time without a run after which a session closes its layers, in milliseconds. The next run opens them again.
   * `false` keeps them open until `close()`. @default 900_000
   */
  sessionIdleTimeout?: number | false | undefined
  /** Whether init() throws, warns or does nothing about a wrong order of layers. @default 'error' */
  orderCheck?: 'error' | 'warn' | 'off' | undefined
  journal?: Journal | undefined
  /** The version of the agent's code. It is stored with each turn, and durable runs belong to it. @default none */
  version?: string | undefined
  approvals?:
    | ApprovalOptions<P extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<P> : RegisteredPrincipal>
    | undefined
  resolveModel?: ResolveModel | undefined
  /** Adapts models of other libraries, wherever a model is accepted. The `Agent` of `allium` adapts AI SDK models. */
  adaptModel?: AdaptModel | undefined
  /** Checks arguments against a raw JSON Schema that you wrote. The `Agent` of `allium` includes ajv. */
  validate?: Validate | undefined
  /**
   * Reads JSON Schemas of client tools without running them as code. The `Agent` of `allium` includes
   * `untrustedSchema` of `@allium/shared/json-schema`. @default none: arguments of client tools are not checked
   */
  untrustedSchema?: ReadUntrustedSchema | undefined
  clock?: Clock | undefined
  ids?: Ids | undefined
  /** Its errors and rejections never fail a run. @default the console */
  logger?: Logger | undefined
}

export const agentOptionKeys = /* @__PURE__ */ keysOf<AgentOptions>()(
  'name formerNames sessionGroup model instructions tools context principal owner settings maxSteps toolConcurrency toolTimeout gracePeriod onBusy readerTimeout sessionIdleTimeout orderCheck journal version approvals resolveModel adaptModel validate untrustedSchema clock ids logger',
)
const ofApprovals: KeysOf<ApprovalOptions> = { secret: true, expiresIn: true, canApprove: true }

export const agentElsewhere = {
  'use middleware layers plugins': 'Layers are added with agent.use(layer).',
  'store memory checkpointer': 'A store is a layer: agent.use(memory.persist({ store })).',
  'output outputSchema responseFormat': 'It belongs to the run: agent.run(input, { output: schema }).',
  'onFinish onStepFinish onError': 'Listen with agent.on(name, listener).',
  'maxRetries retry': 'Add a layer: agent.use(model.retry({ attempts: 3 })).',
  ...settingsElsewhere,
}

/** @throws AlliumError `agent.options` for an unknown option or an invalid value */
export function checkAgentOptions(options: object): void {
  checkOptions(options, agentOptionKeys, 'new Agent()', 'agent.options', agentElsewhere)
  const { tools, context, principal, approvals, settings } = options as Partial<AgentOptions>
  checkOptions(approvals, ofApprovals, 'The option approvals', 'agent.options')
  checkSettings(settings, 'The option settings', 'agent.options')
  if (tools !== undefined && !Array.isArray(tools)) throw noList(tools)
  for (const [name, schema] of Object.entries({ context, principal })) {
    const fault = schema === undefined ? undefined : schemaFault(schema)
    if (fault !== undefined) throw new AlliumError('agent.options', `The option ${name} is ${fault}.`)
  }
}

function noList(tools: unknown): AlliumError {
  const names = typeof tools === 'object' && tools !== null ? Object.keys(tools) : []
  const fix = names.length === 0 ? 'tools: [tool]' : `tools: [${names.join(', ')}]`
  return new AlliumError(
    'agent.options',
    `The option tools must be a list, not ${describe(tools)}. Write ${fix}; each tool has its own name.`,
  )
}

export function toSetup({
  tools: _tools,
  orderCheck: _orderCheck,
  model,
  owner,
  name = 'agent',
  formerNames = [],
  settings = {},
  maxSteps = 25,
  toolConcurrency = 8,
  toolTimeout = 30_000,
  gracePeriod = 2_000,
  onBusy = 'reject',
  readerTimeout = 30_000,
  sessionIdleTimeout = 900_000,
  journal = directJournal,
  approvals = {},
  clock = systemClock,
  ids = randomIds,
  logger = consoleLogger,
  ...rest
}: AgentOptions<StandardSchemaV1 | undefined, StandardSchemaV1 | undefined>): AgentSetup {
  const known = knownModel(model, rest.adaptModel)
  if (known === undefined)
    throw new AlliumError(
      'agent.options',
      `An agent needs a model: { id, stream(request) } or a string such as "anthropic/claude-sonnet-4-6", but ${describeModel(model)}.`,
    )
  checkNames(name, formerNames, rest.sessionGroup)
  checkSecret(approvals)
  const counts = { maxSteps, toolConcurrency, toolTimeout, gracePeriod }
  for (const [option, value] of Object.entries(counts)) atLeastOne(option, value)
  const times = { readerTimeout, sessionIdleTimeout }
  const ports = { journal, clock, ids, logger: safeLogger(logger) }
  for (const [option, value] of Object.entries(times)) bound(option, value)
  return {
    ...rest,
    ...counts,
    ...times,
    ...ports,
    name,
    formerNames: [...formerNames],
    model: known,
    owner: owner && checkedOwner(owner as (principal: unknown) => unknown),
    settings,
    onBusy,
    approvals,
  }
}

/** Checks names, because they are part of store keys, where an empty one would mean no name. */
function checkNames(name: unknown, formerNames: unknown, sessionGroup: unknown): void {
  if (!Array.isArray(formerNames))
    throw new AlliumError(
      'agent.options',
      `The option formerNames must be a list of names, not ${describe(formerNames)}. Write formerNames: ['helpdesk'].`,
    )
  const group = sessionGroup === undefined ? [] : [['sessionGroup', sessionGroup]]
  const former = formerNames.map((one) => ['formerNames', one])
  for (const [option, text] of [['name', name], ...group, ...former]) {
    if (typeof text === 'string' && text !== '' && text.length <= 256 && isPrintable(text)) continue
    throw new AlliumError(
      'agent.options',
      `The option ${option} has ${describe(text)} as a name. Use 1 to 256 characters without control characters or lone surrogates.`,
    )
  }
}

/** Rejects an unset secret, for example from a missing variable, so that it does not turn tokens off. */
function checkSecret(approvals: ApprovalOptions): void {
  if (!('secret' in approvals)) return
  const { secret } = approvals as { secret?: unknown }
  const isSecret = (one: unknown) => typeof one === 'string' && one !== ''
  if (Array.isArray(secret) ? secret.length > 0 && secret.every(isSecret) : isSecret(secret)) return
  throw new AlliumError(
    'agent.options',
    `approvals.secret is ${describe(secret)}, so approvals cannot be signed. Pass a non-empty string (is its variable set?), or omit it.`,
  )
}

function checkedOwner(owner: (principal: unknown) => unknown): NonNullable<AgentSetup['owner']> {
  return (principal) => {
    const id = owner(principal)
    if (id === undefined || typeof id === 'string') return id
    throw new AlliumError(
      'session.principal',
      `The agent's owner(principal) returned ${describe(id)}. Return a string, or undefined for a session of the whole tenant.`,
    )
  }
}

function atLeastOne(option: string, value: number): void {
  if (typeof value !== 'number' || !(value >= 1))
    throw new AlliumError(
      'agent.options',
      `The option ${option} must be a number of 1 or more, not ${describe(value)}.`,
    )
}

function bound(option: string, value: unknown): void {
  const fault = boundFault(option, value, 'agent.options')
  if (fault !== undefined) throw fault
}
