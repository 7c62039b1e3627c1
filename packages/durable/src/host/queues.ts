import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { ClaimQueue, QueueLimits } from '@allium/store'
import { agentOptionsError, runOptionsError } from './option-errors.ts'

/** The limits of a queue. The limits other than `workerConcurrency` hold over all processes. */
export interface QueueOptions {
  /** Most runs of the queue that run at once, over all processes. @default no limit */
  concurrency?: number | undefined
  /** Most runs of each tenant that run at once, over all processes. @default no limit */
  perTenant?: number | undefined
  /** Most runs of the queue that this process executes at once. At most `concurrency`. @default the `concurrency` of `durable()` */
  workerConcurrency?: number | undefined
  /** How many runs of the queue may start within a period, over all processes. @default no limit */
  rateLimit?: RateLimit | undefined
}

export interface RateLimit {
  /** Most runs that start within any `period`. */
  limit: number
  /** Milliseconds, at most one day. The window slides: a start counts for one period. */
  period: number
  /** Most runs of each tenant that start within any `period`. @default no limit */
  perTenant?: number | undefined
}

const queueKeys: KeysOf<QueueOptions> = { concurrency: true, perTenant: true, workerConcurrency: true, rateLimit: true }
const rateLimitKeys: KeysOf<RateLimit> = { limit: true, period: true, perTenant: true }
const maxLimit = 10_000
const maxPeriod = 86_400_000

/** The queues of an agent in this process. */
export class Queues {
  readonly #declared: ReadonlyMap<string, QueueOptions>

  /** @throws AlliumError `agent.options` */
  constructor(options: Readonly<Record<string, QueueOptions>> = {}) {
    for (const [name, queue] of Object.entries(options)) checkQueue(name, queue)
    this.#declared = new Map([['default', {}], ...Object.entries(options)])
  }

  /** Returns the limits of a queue; undefined if it has none. @throws AlliumError `run.options` for an undeclared queue */
  limits(name: string): QueueLimits | undefined {
    if (this.#declared.has(name)) return this.isLimited(name) ? this.#declared.get(name) : undefined
    const names = [...this.#declared.keys()].map((one) => `"${one}"`).join(', ')
    throw runOptionsError(
      `The queue "${name}" is not declared. Use one of ${names}, or declare it: durable(agent, { queues: { ${JSON.stringify(name)}: {} } }).`,
    )
  }

  has(name: string): boolean {
    return this.#declared.has(name)
  }

  /** Whether a run of the queue may wait although this process has room. */
  isLimited(name: string): boolean {
    return Object.keys(this.#declared.get(name) ?? {}).length > 0
  }

  /** Returns the milliseconds for which a start counts towards the rate limit of a queue; undefined without such a limit. */
  periodOf(name: string): number | undefined {
    return this.#declared.get(name)?.rateLimit?.period
  }

  /** Returns how many more runs of the queue this process may execute. @param executing how many it executes now */
  places(name: string, executing: number): number {
    return Math.max(0, (this.#declared.get(name)?.workerConcurrency ?? Number.POSITIVE_INFINITY) - executing)
  }

  /** Returns the queues as the store takes them. @param executing how many runs of a queue this process executes now */
  toClaim(executing: (name: string) => number): ClaimQueue[] {
    return [...this.#declared].map(([name, { workerConcurrency, ...limits }]) => ({
      ...limits,
      name,
      ...(workerConcurrency !== undefined && { places: this.places(name, executing(name)) }),
    }))
  }
}

function checkQueue(name: string, queue: QueueOptions): void {
  const what = `The queue "${name}"`
  checkOptions(queue ?? null, queueKeys, what, 'agent.options')
  const { rateLimit, ...counts } = queue
  if (rateLimit !== undefined) checkOptions(rateLimit, rateLimitKeys, `${what}: rateLimit`, 'agent.options')
  const { period = 1, limit = 1, perTenant } = rateLimit ?? {}
  for (const [option, value] of Object.entries({
    ...counts,
    'rateLimit.limit': limit,
    'rateLimit.perTenant': perTenant,
  }))
    if (value !== undefined && !(Number.isInteger(value) && value >= 1 && value <= maxLimit))
      throw agentOptionsError(
        `${what} takes ${option} as a whole number from 1 to ${maxLimit}, but ${value} was given.`,
      )
  if (!(period > 0 && period <= maxPeriod))
    throw agentOptionsError(
      `${what} takes rateLimit.period as milliseconds, at most one day (${maxPeriod}), but ${period} was given.`,
    )
  const { concurrency, workerConcurrency } = queue
  if (concurrency !== undefined && workerConcurrency !== undefined && workerConcurrency > concurrency)
    throw agentOptionsError(
      `${what} has the workerConcurrency ${workerConcurrency}, above its concurrency ${concurrency}. Lower it.`,
    )
}
