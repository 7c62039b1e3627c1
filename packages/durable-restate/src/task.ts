import { AlliumError, type Decision, fromJson, type Input, type RegisteredPrincipal, sessionKeyOf } from '@allium/core'
import type { RestateAgent } from './restate-agent.ts'

/** The request of a run. */
export interface Task {
  readonly principal?: RegisteredPrincipal | undefined
  readonly sessionId: string
  readonly input?: Input | undefined
  readonly decisions?: Readonly<Record<string, Decision>> | undefined
  /** The approver. @default the principal */
  readonly approver?: RegisteredPrincipal | undefined
  readonly idempotencyKey: string
}

/** Reads a stored task. */
export function taskOf(text: string): Task {
  return fromJson(text) as Task
}

/** Identifies a run within its owner's sessions. */
type RunName = Pick<Task, 'sessionId' | 'idempotencyKey'>

/** Returns the key of a session's object. It contains the owner and the agent, so it never finds the run of another owner. */
export function objectKeyOf(
  agent: RestateAgent,
  { principal, sessionId }: Pick<Task, 'principal' | 'sessionId'>,
): string {
  const { key } = agent.session({ id: sessionId, principal: principal as never })
  return sessionKeyOf({ sessionKey: key })
}

/** Returns the agent in an object key. */
export function agentOfKey(objectKey: string): unknown {
  return (JSON.parse(objectKey) as unknown[])[2]
}

export function turnIdOf({ sessionId, idempotencyKey }: RunName): string {
  return `${sessionId}:${idempotencyKey}`
}

/** Returns the idempotency key in characters that Restate accepts in a header and in a path. */
export function restateKeyOf({ idempotencyKey }: Pick<Task, 'idempotencyKey'>): string {
  return Buffer.from(idempotencyKey).toString('base64url')
}

export function runIdOf({ sessionId, idempotencyKey }: RunName): string {
  return Buffer.from(JSON.stringify([sessionId, idempotencyKey])).toString('base64url')
}

/** @throws AlliumError `session.not_found` if it is not a run id */
export function parseRunId(run: string): RunName {
  try {
    const [sessionId, idempotencyKey] = JSON.parse(Buffer.from(run, 'base64url').toString()) as unknown[]
    if (typeof sessionId === 'string' && typeof idempotencyKey === 'string') return { sessionId, idempotencyKey }
  } catch {}
  throw notFound(run)
}

export function notFound(run: string): AlliumError {
  return new AlliumError(
    'session.not_found',
    `There is no run "${run}" of this principal, or Restate no longer has it. Pass the principal that started the run.`,
  )
}
