import type { Clock } from '@allium/core'
import type { KeysOf } from '@allium/core/internal'
import { checkOptionNames, pathSegment, type Transport } from './http.ts'

/** How a client reaches its server. */
export interface TransportOptions {
  /** The name of the agent, of a server with several. @default the only one */
  agent?: string | undefined
  /** The URL of the server, with its `base`: `https://api.acme.com/ai`. */
  url: string
  /** Returns headers that authenticate the user; called for each request. @default none */
  headers?: (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>) | undefined
  /** @default the global `fetch` */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** Most attempts in a row to connect without receiving anything. @default 10 */
  attempts?: number | undefined
  /**
   * Waits before another attempt, counted from 1. `retryAfter` has the milliseconds that the server asked for, up to 30,000, or 0.
   * @default 250 ms, doubled each time up to 5 seconds, with jitter, but at least `retryAfter`
   */
  backoff?: ((attempt: number, retryAfter: number) => Promise<void>) | undefined
  /** Times the delays, and the silence after which a connection counts as lost. @default `setTimeout` */
  clock?: Pick<Clock, 'after'> | undefined
}

const optionKeys: KeysOf<TransportOptions> = {
  url: true,
  agent: true,
  headers: true,
  fetch: true,
  attempts: true,
  backoff: true,
  clock: true,
}

/** @throws ClientError `options.invalid` for unknown options of the function `subject` */
export function createTransport(options: TransportOptions, subject: string): Transport {
  checkOptionNames(options, optionKeys, subject)
  const {
    agent,
    headers = () => ({}),
    attempts = 10,
    clock = timers,
    fetch: customFetch = (url: string, init: RequestInit) => fetch(url, init),
    backoff: wait = (attempt, retryAfter) => backoff(clock, attempt, retryAfter),
  } = options
  const basePath = agent === undefined ? '' : `/agents/${pathSegment(agent, 'the name of an agent')}`
  return { url: `${options.url.replace(/\/$/, '')}${basePath}`, headers, attempts, wait, clock, fetch: customFetch }
}

const timers: Pick<Clock, 'after'> = {
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
}

function backoff(clock: Pick<Clock, 'after'>, attempt: number, retryAfter: number): Promise<void> {
  const max = Math.min(250 * 2 ** (attempt - 1), 5000)
  return new Promise((resolve) => void clock.after(Math.max(retryAfter, (max * (1 + Math.random())) / 2), resolve))
}
