import { AlliumError } from '@allium/core'
import { nearestFirst } from '@allium/core/internal'
import { FairShare, type Quota } from '../http/fair-share.ts'

/** Limits of the messages to one active run. */
export interface SteerLimit {
  /** @default 100 */
  readonly messages: number
  /** Bytes of all messages together. @default 8_388_608 */
  readonly bytes: number
}

/** Limits of one process. Shares leave room for other tenants and users. */
export interface ServerLimits {
  /** Requests in progress, without streams. @default { total: 2000, perTenant: 1000, perUser: 200 } */
  readonly requests?: Partial<Quota> | undefined
  /** Active runs. @default { total: 1000, perTenant: 500, perUser: 100 } */
  readonly runs?: Partial<Quota> | undefined
  /** Open streams. @default { total: 5000, perTenant: 2500, perUser: 200 } */
  readonly streams?: Partial<Quota> | undefined
  /** Inputs queued with `onBusy: 'queue'`. Each session queues at most 16. @default { total: 1000, perTenant: 500, perUser: 50 } */
  readonly queued?: Partial<Quota> | undefined
  /**
   * MCP sessions with elicitation. A new one closes the idlest session of the heaviest user. @default { total: 1000, perTenant: 500,
   * perUser: 50 }
   */
  readonly mcpSessions?: Partial<Quota> | undefined
  /** Messages to one active run. */
  readonly steers?: Partial<SteerLimit> | undefined
}

const quotaDefaults = {
  requests: ['requests', { total: 2000, perTenant: 1000, perUser: 200 }],
  runs: ['active runs', { total: 1000, perTenant: 500, perUser: 100 }],
  streams: ['open streams', { total: 5000, perTenant: 2500, perUser: 200 }],
  queued: ['queued inputs', { total: 1000, perTenant: 500, perUser: 50 }],
  mcpSessions: ['MCP sessions', { total: 1000, perTenant: 500, perUser: 50 }],
} as const satisfies Record<string, readonly [string, Quota]>

const steers: SteerLimit = { messages: 100, bytes: 8 * 1_048_576 }

export type Shares = Readonly<Record<keyof typeof quotaDefaults, FairShare>>

export function createShares(limits: ServerLimits = {}): Shares {
  const made = Object.entries(quotaDefaults).map(([name, [resource, defaults]]) => {
    const overrides = withoutUndefined(limits[name as keyof typeof quotaDefaults])
    return [name, new FairShare(resource, { ...defaults, ...overrides })]
  })
  return Object.fromEntries(made)
}

export function steerLimitOf(limits: ServerLimits = {}): SteerLimit {
  return { ...steers, ...withoutUndefined(limits.steers) }
}

/** @throws AlliumError `server.options` */
export function checkLimits(limits: ServerLimits = {}): void {
  for (const [name, overrides] of Object.entries(limits)) {
    const defaults = name === 'steers' ? steers : quotaDefaults[name as keyof typeof quotaDefaults]?.[1]
    if (defaults === undefined) throw unknownOption('limits', name, [...Object.keys(quotaDefaults), 'steers'])
    for (const [part, value] of Object.entries(overrides ?? {})) {
      if (!Object.hasOwn(defaults, part)) throw unknownOption(`limits.${name}`, part, Object.keys(defaults))
      if (value !== undefined && !(Number.isInteger(value) && (value as number) > 0))
        throw new AlliumError(
          'server.options',
          `The option limits.${name}.${part} of server() must be a whole number above 0.`,
        )
    }
  }
}

function unknownOption(option: string, name: string, names: readonly string[]): AlliumError {
  const suggestions = nearestFirst(name, [...names]).join(', ')
  return new AlliumError(
    'server.options',
    `The option ${option} of server() has no ${name}. Use one of: ${suggestions}.`,
  )
}

function withoutUndefined<T extends object>(overrides: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(overrides ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>
}
