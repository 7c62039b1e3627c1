import { toMessages } from '../messages/check-messages.ts'
import { canonicalJson } from '../messages/json.ts'
import { formOf } from '../output/option.ts'
import { sessionKeyOf } from '../ports/tenant.ts'
import type { Turn } from '../turn/turn.ts'
import type { AgentRun } from './agent-run.ts'
import type { Task } from './options.ts'
import type { SessionScope } from './scope/session-scope.ts'

interface Known {
  readonly run: AgentRun
  /** The fingerprint of the request. */
  readonly fingerprint: string
  settled: boolean
}

/** The runs of an agent by idempotency key. A repeated request gets the run of its key, through any object of the session. */
export class RunKeys {
  readonly #runs = new Map<string, Known>()
  readonly #most: number

  /** @param most the maximum number of runs to remember, without running ones */
  constructor(most = 1000) {
    this.#most = most
  }

  find(session: SessionScope, key: string): Pick<Known, 'run' | 'fingerprint'> | undefined {
    return this.#runs.get(nameOf(session, key))
  }

  remember(session: SessionScope, key: string, { run, fingerprint }: Pick<Known, 'run' | 'fingerprint'>): void {
    this.#runs.set(nameOf(session, key), { run, fingerprint, settled: false })
    if (this.#runs.size > this.#most) this.#dropOldest()
  }

  /** @param counts whether the run is final for its key, so that it is not repeated */
  settle(session: SessionScope, key: string, counts: boolean): void {
    const name = nameOf(session, key)
    const known = this.#runs.get(name)
    if (known === undefined) return
    known.settled = true
    if (!counts) this.#runs.delete(name)
  }

  #dropOldest(): void {
    for (const [name, { settled }] of this.#runs) if (settled) return void this.#runs.delete(name)
  }
}

function nameOf(session: SessionScope, key: string): string {
  return JSON.stringify([sessionKeyOf({ sessionKey: session.key }), key])
}

export type StoredAs = NonNullable<Turn['options']['storedAs']>

/**
 * Returns the identity of a run for repeated requests: its key, and the digest of its request. Undefined without a key
 * or an id.
 */
export async function storedAsOf<C>(task: Task<C>): Promise<StoredAs | undefined> {
  const { idempotencyKey, turnId } = task.options
  if (idempotencyKey === undefined && turnId === undefined) return undefined
  const { contentDigestOf } = await import('../later.ts')
  return { idempotencyKey, inputDigest: await contentDigestOf(requestOf(task)) }
}

/**
 * Returns the request that the key of a run identifies: its input or decisions and, if given, the client tools and the
 * output format.
 *
 * @throws AlliumError `message.invalid`, `run.options`
 */
function requestOf<C>({ decisions, input, options: { clientTools, output } }: Task<C>): unknown {
  const request = decisions === undefined ? toMessages(input) : { decisions }
  if (clientTools === undefined && output === undefined) return request
  return { request, clientTools, form: output === undefined ? undefined : formOf(output) }
}

/** Returns a synchronous fingerprint of a run's request, which stores nothing of the request. */
export function fingerprintOf<C>(task: Task<C>): string {
  try {
    return hashOf(canonicalJson(requestOf(task)))
  } catch {
    // Such a run is rejected.
    return ''
  }
}

/** A 53-bit hash: cyrb53. */
function hashOf(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 2654435761)
    b = Math.imul(b ^ text.charCodeAt(i), 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return `${text.length} ${b >>> 0} ${a >>> 0}`
}
