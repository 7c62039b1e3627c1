import {
  type Agent,
  AlliumError,
  type Decision,
  type Input,
  type RegisteredPrincipal,
  sessionKeyOf,
} from '@allium/core'

/** What a run is to do. */
export interface Task {
  readonly principal?: RegisteredPrincipal | undefined
  readonly sessionId: string
  readonly input?: Input | undefined
  readonly decisions?: Readonly<Record<string, Decision>> | undefined
  /** Who decides. @default the principal */
  readonly decider?: RegisteredPrincipal | undefined
  readonly idempotencyKey: string
}

/** What names a run within its owner's sessions. */
type RunName = Pick<Task, 'sessionId' | 'idempotencyKey'>

/** An object of Restate is one session of one owner and agent: another's run is looked for in another object, and not found. */
export function objectKeyOf(
  agent: Pick<Agent, 'session'>,
  { principal, sessionId }: Pick<Task, 'principal' | 'sessionId'>,
): string {
  const { key } = agent.session({ id: sessionId, principal: principal as RegisteredPrincipal })
  return sessionKeyOf({ sessionKey: key })
}

/** The agent that a key names. */
export function agentOfKey(objectKey: string): unknown {
  return (JSON.parse(objectKey) as unknown[])[2]
}

export function turnIdOf({ sessionId, idempotencyKey }: RunName): string {
  return `${sessionId}:${idempotencyKey}`
}

/** The key as Restate takes it: in a header, and as it is in a path. */
export function restateKeyOf({ idempotencyKey }: Pick<Task, 'idempotencyKey'>): string {
  return Buffer.from(idempotencyKey).toString('base64url')
}

export function runIdOf({ sessionId, idempotencyKey }: RunName): string {
  return Buffer.from(JSON.stringify([sessionId, idempotencyKey])).toString('base64url')
}

/** @throws AlliumError `session.not_found` for what is no name of a run */
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
    `There is no run "${run}" of this principal, or Restate keeps it no longer: ask with the principal that started it.`,
  )
}
