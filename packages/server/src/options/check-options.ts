import { AlliumError, option } from '@allium/core'
import { checkOptions, isRecord } from '@allium/core/internal'
import { limitsCheck } from './limits.ts'
import type { ServerOptions } from './options.ts'

const { fn, object, flag, oneOf, number, list, either, shape, required } = option
const text = mustBe('a non-empty text', isNonEmptyString)
const texts = list(text)
const notNegative = number({ from: 0 })
const positive = number({ above: 0 })

const checks: Record<keyof ServerOptions, option.Check<unknown>> = {
  principal: fn,
  sessions: object,
  events: object,
  durable: mustBe('the result of durable(), or a list of them', isDurable),
  canUse: fn,
  canRead: fn,
  resolvePrincipal: fn,
  uiStream: mustBe('6 or 7', (value) => value === 6 || value === 7),
  secret: mustBe('a text of 16 characters or more', (value) => isNonEmptyString(value) && value.length >= 16),
  openai: flag,
  agui: flag,
  mcp: either(shape<Exclude<ServerOptions['mcp'], boolean | undefined>>({ elicitation: flag }), flag),
  onDisconnect: oneOf('continue', 'abort'),
  abortAfter: notNegative,
  state: texts,
  onBusy: oneOf('reject', 'steer', 'queue'),
  edits: oneOf('fork', 'reject'),
  headersAfter: notNegative,
  heartbeat: positive,
  maxBodyBytes: positive,
  limits: limitsCheck,
  inspect: object,
  operations: object,
  feedback: object,
  memory: object,
  origins: texts,
  hosts: texts,
  trustProxy: flag,
  base: mustBe('a path that starts with /', (value) => isNonEmptyString(value) && value.startsWith('/')),
  metrics: shape<NonNullable<ServerOptions['metrics']>>({ token: required(text), collect: fn }),
  logger: object,
  clock: object,
}

const optionKeys = Object.fromEntries(Object.keys(checks).map((name) => [name, true as const]))
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
  for (const [name, value] of Object.entries(options)) {
    const fault = value === undefined ? undefined : checks[name as keyof ServerOptions]?.(value)
    if (fault !== undefined) throw new AlliumError('server.options', `server() ${fault.say(name + fault.path)}`)
  }
}

/** The message does not repeat the value, because it may be a secret. */
function mustBe(what: string, isValid: (value: unknown) => boolean): option.Check {
  return (value) => (isValid(value) ? undefined : { path: '', say: (name) => `needs ${name} to be ${what}.` })
}

const missingPrincipal =
  'A server needs to authenticate its callers. Pass `principal: (request) => …`, which returns { tenantId, userId } for a signed-in request, and nothing for others.'

function isDurable(value: unknown): boolean {
  // Durable runs of an engine have no sessions and events that a server could read.
  const isDurableRuns = (candidate: unknown) =>
    isRecord(candidate) && typeof candidate.start === 'function' && isRecord(candidate.events)
  return [value].flat().every(isDurableRuns)
}
function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
