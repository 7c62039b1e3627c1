import type { AgentRun, Journal, OutputOption, Session } from '@allium/core'
import { operators } from '@allium/core/internal'
import { untrustedSchema } from '@allium/json-schema'
import type { Task } from './task.ts'

/** Starts the turn of a stored request, with its recorded steps. */
export function startTurn(
  session: Session<unknown, unknown>,
  { turnId, task, journal }: { turnId: string; task: Task; journal: Journal },
): AgentRun<unknown, unknown> {
  const { input, decisions, operator, context, output, clientTools, idempotencyKey, onRetryAfterOutput } = task
  const options = {
    turnId,
    journal,
    idempotencyKey,
    clientTools,
    onRetryAfterOutput,
    readerTimeout: false as const,
    ...(context !== undefined && { context }),
    ...(output !== undefined && { output: untrustedSchema(output) as OutputOption }),
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
