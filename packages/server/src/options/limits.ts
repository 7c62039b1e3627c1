import { option } from '@allium/core'
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

const count = option.whole(1)
const quota = option.shape<Partial<Quota>>({ total: count, perTenant: count, perUser: count })

export const limitsCheck: option.Check<ServerLimits> = option.shape<ServerLimits>({
  requests: quota,
  runs: quota,
  streams: quota,
  queued: quota,
  mcpSessions: quota,
  steers: option.shape<Partial<SteerLimit>>({ messages: count, bytes: count }),
})

function withoutUndefined<T extends object>(overrides: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(overrides ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>
}
