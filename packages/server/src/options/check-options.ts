import { AlliumError } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { DurableRuns } from './durable-runs.ts'
import { checkLimits } from './limits.ts'
import type { ServerOptions } from './options.ts'

interface Check {
  readonly isValid: (value: unknown) => boolean
  /** The allowed values, for a message. */
  readonly allowed: string
}

const fn: Check = { isValid: isFunction, allowed: 'a function' }
const object: Check = { isValid: isObject, allowed: 'an object' }
const flag: Check = oneOf(true, false)
const list: Check = { isValid: isStringList, allowed: 'a list of non-empty strings' }
const notNegative: Check = { isValid: isNonNegative, allowed: 'a number of at least 0' }
const positive: Check = { isValid: (value) => isNonNegative(value) && value !== 0, allowed: 'a number above 0' }

const checks: Record<keyof ServerOptions, Check> = {
  principal: fn,
  sessions: object,
  events: object,
  durable: { isValid: isDurable, allowed: 'the result of durable(), or a list of them' },
  canUse: fn,
  canRead: fn,
  resolvePrincipal: fn,
  uiStream: oneOf(6, 7),
  secret: {
    isValid: (value) => isNonEmptyString(value) && (value as string).length >= 16,
    allowed: 'a string of at least 16 characters',
  },
  openai: flag,
  agui: flag,
  mcp: { isValid: (value) => typeof value === 'boolean' || isObject(value), allowed: 'true, false or an object' },
  onDisconnect: oneOf('continue', 'abort'),
  abortAfter: notNegative,
  state: list,
  onBusy: oneOf('reject', 'steer', 'queue'),
  edits: oneOf('fork', 'reject'),
  headersAfter: notNegative,
  heartbeat: positive,
  maxBody: positive,
  limits: object,
  inspect: object,
  operations: object,
  origins: list,
  hosts: list,
  trustProxy: flag,
  base: {
    isValid: (value) => typeof value === 'string' && value.startsWith('/'),
    allowed: 'a path that starts with /',
  },
  metrics: {
    isValid: (value) => isObject(value) && isNonEmptyString((value as { token?: unknown }).token),
    allowed: 'an object with a token',
  },
  logger: object,
  clock: object,
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
    if (value === undefined || check === undefined || check.isValid(value)) continue
    const given = name === 'secret' ? '' : `, not ${describe(value)}`
    throw new AlliumError('server.options', `The option ${name} of server() must be ${check.allowed}${given}.`)
  }
}

const missingPrincipal =
  'A server needs to authenticate its callers. Pass `principal: (request) => …`, which returns { tenantId, userId } for a request that is signed in, and nothing for others.'

function oneOf(...values: readonly unknown[]): Check {
  return { isValid: (value) => values.includes(value), allowed: values.map(describe).join(' or ') }
}
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
