import { type Decision, fromJson, type Input, messageOf, type ToolDef, toJson } from '@allium/core'
import { runOptionsError } from '../host/option-errors.ts'
import { checkStart, type StartOptions } from '../options.ts'

/** The request of a run as it is stored. */
export interface Task {
  readonly principal?: unknown
  readonly input?: Input
  readonly decisions?: Readonly<Record<string, Decision>>
  readonly approver?: unknown
  /** The operator who denies the calls. Only `operations()` stores it, with decisions that deny. */
  readonly operator?: string
  readonly context?: unknown
  readonly output?: Readonly<Record<string, unknown>>
  readonly clientTools?: readonly ToolDef[]
  readonly idempotencyKey?: string
  readonly onRetryAfterOutput?: 'reset' | 'fail'
  /** The schedule that started the run. Such a run never uses the stored principal: its owner is looked up. */
  readonly schedule?: string
  /** The version of the agent that it was started with. */
  readonly version?: string
}

/** Returns a stored task. A run that has ended has none. */
export function storedTask(stored: unknown): Task {
  return (stored ?? {}) as Task
}

/** Longer strings are not serialized to copy a task, because a base64 image has millions of characters. */
const longText = 4096

/** Returns a copy that the caller cannot change. @throws AlliumError `run.options` for data that cannot be stored */
export function taskOf(options: StartOptions): Task {
  checkStart(options)
  const { sessionId: _, runAt: __, onBusy: ___, queue: ____, priority: _____, ...task } = options
  try {
    const large: unknown[] = []
    const text = toJson(task, (value) => {
      if (value instanceof Uint8Array) return large.push(new Uint8Array(value)) - 1
      return typeof value === 'string' && value.length > longText ? large.push(value) - 1 : undefined
    })
    return fromJson(text, (index) => large[index as number]) as Task
  } catch (cause) {
    throw runOptionsError(`A durable run takes only plain data. ${messageOf(cause)}`, cause)
  }
}

/**
 * Returns the input digest of an idempotency key. Bytes are included as digests. @param agent the agent of a session that several agents
 * share
 */
export async function inputDigestOf(
  { input, decisions, context, output, clientTools }: Task,
  agent?: string,
): Promise<string> {
  const bytes: Uint8Array[] = []
  const text = toJson(
    { input, decisions, context, output, clientTools, ...(agent !== undefined && { agent }) },
    (value) => (value instanceof Uint8Array ? bytes.push(value) - 1 : undefined),
  )
  const digests = await Promise.all(bytes.map((one) => crypto.subtle.digest('SHA-256', new Uint8Array(one))))
  return [text, ...digests.map((digest) => new Uint8Array(digest).join())].join('\n')
}

/** Returns the id of the session that belongs to an idempotency key alone. Each tenant and owner has sessions of its own. */
export async function sessionIdOf(idempotencyKey: string | undefined): Promise<string | undefined> {
  if (idempotencyKey === undefined) return undefined
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(idempotencyKey)))
  return `key-${[...digest.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
