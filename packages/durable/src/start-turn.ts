import type { AgentRun, Journal, OutputOption, Session } from '@allium/core'
import { operators } from '@allium/core/internal'
import type { Task } from './task.ts'

/** Reads the JSON Schema of a request's answer, which comes from a client. @throws AlliumError `schema.limits` */
export async function outputOf({ output }: Task): Promise<OutputOption | undefined> {
  if (output === undefined) return undefined
  const { untrustedSchema } = await import('@allium/shared/json-schema')
  return (await untrustedSchema(output)) as OutputOption
}

/** Starts the turn of a stored request, with its recorded steps. */
export function startTurn(
  session: Session<unknown, unknown>,
  { turnId, task, output, journal }: { turnId: string; task: Task; output: OutputOption | undefined; journal: Journal },
): AgentRun<unknown, unknown> {
  const { input, decisions, operator, context, clientTools, idempotencyKey, onRetryAfterOutput } = task
  const options = {
    turnId,
    journal,
    idempotencyKey,
    clientTools,
    onRetryAfterOutput,
    readerTimeout: false as const,
    ...(context !== undefined && { context }),
    ...(output !== undefined && { output }),
  }
  if (decisions === undefined) return session.run(input ?? '', options) as AgentRun<unknown, unknown>
  const approver = operator === undefined ? task.approver : operatorOf(session, operator)
  const resumeOptions = approver === undefined ? options : { ...options, approver: approver as never }
  return session.resume(decisions, resumeOptions) as AgentRun<unknown, unknown>
}

/** Returns the operator as an approver, who may only deny. */
function operatorOf({ key }: Session<unknown, unknown>, operator: string): object {
  const principal = { tenantId: key.tenant, userId: operator }
  // The record names no user, so that no user's id can look like an operator.
  operators.set(principal, { operator })
  return principal
}
