import { AlliumError, nearestFirst } from '@allium/core'
import { FairShare, type Share } from './http/fair-share.ts'

/** What may be sent to one run while it goes on. */
export interface SteerLimit {
  /** @default 100 */
  readonly messages: number
  /** Bytes of all messages together. @default 8_388_608 */
  readonly bytes: number
}

/** Bounds of one process. Those with shares leave room for other tenants and other users. */
export interface ServerLimits {
  /** Requests that are being answered, without streams. @default { total: 2000, perTenant: 1000, perUser: 200 } */
  readonly requests?: Partial<Share> | undefined
  /** Runs that go on. @default { total: 1000, perTenant: 500, perUser: 100 } */
  readonly runs?: Partial<Share> | undefined
  /** Open streams. @default { total: 5000, perTenant: 2500, perUser: 200 } */
  readonly streams?: Partial<Share> | undefined
  /** Inputs that wait for their session with `onBusy: 'queue'`; for one session at most 16. @default { total: 1000, perTenant: 500, perUser: 50 } */
  readonly queued?: Partial<Share> | undefined
  /** Sessions of MCP with elicitation: the idlest one of the heaviest user is closed for a new one. @default { total: 1000, perTenant: 500, perUser: 50 } */
  readonly mcpSessions?: Partial<Share> | undefined
  /** Messages to one running run. */
  readonly steers?: Partial<SteerLimit> | undefined
}

const shares = {
  requests: ['requests', { total: 2000, perTenant: 1000, perUser: 200 }],
  runs: ['running runs', { total: 1000, perTenant: 500, perUser: 100 }],
  streams: ['open streams', { total: 5000, perTenant: 2500, perUser: 200 }],
  queued: ['queued inputs', { total: 1000, perTenant: 500, perUser: 50 }],
  mcpSessions: ['sessions of MCP', { total: 1000, perTenant: 500, perUser: 50 }],
} as const satisfies Record<string, readonly [string, Share]>

const steers: SteerLimit = { messages: 100, bytes: 8 * 1_048_576 }

export type Shares = Readonly<Record<keyof typeof shares, FairShare>>

export function sharesOf(limits: ServerLimits = {}): Shares {
  const made = Object.entries(shares).map(([name, [what, most]]) => {
    const given = withoutUndefined(limits[name as keyof typeof shares])
    return [name, new FairShare(what, { ...most, ...given })]
  })
  return Object.fromEntries(made)
}

export function steerLimitOf(limits: ServerLimits = {}): SteerLimit {
  return { ...steers, ...withoutUndefined(limits.steers) }
}

/** @throws AlliumError `server.options` */
export function checkLimits(limits: ServerLimits = {}): void {
  for (const [name, given] of Object.entries(limits)) {
    const most = name === 'steers' ? steers : shares[name as keyof typeof shares]?.[1]
    if (most === undefined) throw unknown('limits', name, [...Object.keys(shares), 'steers'])
    for (const [part, value] of Object.entries(given ?? {})) {
      if (!Object.hasOwn(most, part)) throw unknown(`limits.${name}`, part, Object.keys(most))
      if (value !== undefined && !(Number.isInteger(value) && (value as number) > 0))
        throw new AlliumError(
          'server.options',
          `The option limits.${name}.${part} of server() is a whole number above 0.`,
        )
    }
  }
}

function unknown(where: string, name: string, known: readonly string[]): AlliumError {
  const told = nearestFirst(name, [...known]).join(', ')
  return new AlliumError('server.options', `The option ${where} of server() does not know ${name}. It knows: ${told}.`)
}

function withoutUndefined<T extends object>(given: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>
}
