import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { DurableRuns } from './durable-runs.ts'
import { checkLimits } from './limits.ts'
import type { ServerOptions } from './options.ts'

/** Returns whether the value of an option is valid. */
const checks: Record<keyof ServerOptions, (value: unknown) => boolean> = {
  principal: isFunction,
  sessions: isObject,
  events: isObject,
  durable: isDurable,
  canUse: isFunction,
  canRead: isFunction,
  resolvePrincipal: isFunction,
  uiStream: (value) => value === 6 || value === 7,
  secret: (value) => isNonEmptyString(value) && (value as string).length >= 16,
  openai: (value) => typeof value === 'boolean',
  agui: (value) => typeof value === 'boolean',
  mcp: (value) => typeof value === 'boolean' || isObject(value),
  onDisconnect: (value) => value === 'continue' || value === 'abort',
  abortAfter: isNonNegative,
  state: isStringList,
  onBusy: (value) => value === 'reject' || value === 'steer' || value === 'queue',
  edits: (value) => value === 'fork' || value === 'reject',
  headersAfter: isNonNegative,
  heartbeat: (value) => isNonNegative(value) && value !== 0,
  maxBody: (value) => isNonNegative(value) && value !== 0,
  limits: isObject,
  inspect: isObject,
  operations: isObject,
  origins: isStringList,
  hosts: isStringList,
  trustProxy: (value) => typeof value === 'boolean',
  base: (value) => typeof value === 'string' && value.startsWith('/'),
  metrics: (value) => isObject(value) && isNonEmptyString((value as { token?: unknown }).token),
  logger: isObject,
  clock: isObject,
}

const optionKeys = Object.fromEntries(Object.keys(checks).map((name) => [name, true as const]))
const mcpOptionKeys: KeysOf<Exclude<ServerOptions['mcp'], boolean | undefined>> = { elicitation: true }
const metricsOptionKeys: KeysOf<NonNullable<ServerOptions['metrics']>> = { token: true, collect: true }
const drainOptionKeys = { timeout: true } as const

/** @throws AlliumError `server.options` */
export function checkDrainOptions(options: unknown): void {
  checkOptions(options, drainOptionKeys, 'drain()', 'server.options')
}

/** @throws AlliumError `server.options` */
export function checkServerOptions(options: object): void {
  if (!('principal' in options)) throw new AlliumError('server.options', missingPrincipal)
  checkOptions(options, optionKeys, 'server()', 'server.options', {
    'model instructions tools': 'It belongs to the agent: new Agent({ … }).',
    'port hostname': 'Pass it to serve(server, { port }) of @allium/server/node.',
  })
  const { mcp, metrics, limits } = options as Partial<ServerOptions>
  checkLimits(limits)
  if (typeof mcp === 'object') checkOptions(mcp, mcpOptionKeys, 'The option mcp', 'server.options')
  checkOptions(metrics, metricsOptionKeys, 'The option metrics', 'server.options')
  for (const [name, value] of Object.entries(options)) {
    const check = checks[name as keyof ServerOptions]
    if (value !== undefined && check !== undefined && !check(value))
      throw new AlliumError('server.options', `The option ${name} of server() has an invalid value.`)
  }
}

const missingPrincipal =
  'A server needs to authenticate its callers. Pass `principal: (request) => …`, which returns { tenantId, userId } for a request that is signed in, and nothing for others.'

function isDurable(value: unknown): boolean {
  // Durable runs of an engine have no sessions and events that a server could read.
  const isDurableRuns = (candidate: unknown) =>
    isObject(candidate) && isFunction((candidate as DurableRuns).start) && isObject((candidate as DurableRuns).events)
  return [value].flat().every(isDurableRuns)
}
function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isNonEmptyString)
}
function isNonNegative(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}
