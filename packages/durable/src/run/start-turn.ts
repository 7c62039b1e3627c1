import type { AgentRun, Journal, JsonSchema, OutputOption, Session } from '@allium/core'
import { operators } from '@allium/core/internal'
import type { DurableRun } from '@allium/store'
import { allowPatches } from '../journal/patched.ts'
import type { Task } from './task.ts'

interface TurnRequest {
  readonly run: DurableRun
  readonly task: Task
  readonly journal: Journal
  /** The version of the code in this process, from which `patched()` answers. */
  readonly version: string
}

/**
 * Starts the turn of a stored request, with its recorded steps. The schema of the answer comes from a client, so it is read first.
 *
 * @returns the run, in an object because a run can be awaited @throws AlliumError `schema.limits`
 */
export async function startTurn(
  session: Session<unknown, unknown>,
  { run: { run: turnId, version: began }, task, journal, version }: TurnRequest,
): Promise<{ agentRun: AgentRun<unknown, unknown> }> {
  const { input, decisions, operator, context, output, clientTools, idempotencyKey, onRetryAfterOutput } = task
  allowPatches(journal, { turnId, isNewCode: (task.version ?? began) === version })
  const options = {
    turnId,
    journal,
    idempotencyKey,
    clientTools,
    onRetryAfterOutput,
    readerTimeout: false as const,
    ...(context !== undefined && { context }),
    ...(output !== undefined && { output: await readSchema(output) }),
  }
  if (decisions === undefined) return { agentRun: session.run(input ?? '', options) as never }
  const approver = operator === undefined ? task.approver : operatorOf(session, operator)
  const resumeOptions = approver === undefined ? options : { ...options, approver: approver as never }
  return { agentRun: session.resume(decisions, resumeOptions) as never }
}

async function readSchema(schema: JsonSchema): Promise<OutputOption> {
  const { untrustedSchema } = await import('@allium/shared/json-schema')
  return untrustedSchema(schema)
}

/** Returns the operator as an approver, who may only deny. */
function operatorOf({ key }: Session<unknown, unknown>, operator: string): object {
  const principal = { tenantId: key.tenant, userId: operator }
  // The record names no user, so that no user's id can look like an operator.
  operators.set(principal, { operator })
  return principal
}
