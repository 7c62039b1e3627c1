import { AlliumError } from '@allium/core'
import type { RunSummary } from '@allium/store'
import { storedTask } from '../run/task.ts'
import type { OperationsStore } from './options.ts'
import { runNotFound } from './run-not-found.ts'

/** A denied call, and the run that continues without it. */
export interface DeniedCall {
  readonly run: string
  readonly callId: string
}

/** What the model reads. The operator's reason is only in the audit. */
const denial = 'An operator denied this call.'

/**
 * Adds a run that denies a pending call of another one.
 *
 * @throws AlliumError `run.options` if the run has no such call, or if it waits in a sub-agent, `approval.used` if the call was decided meanwhile
 */
export async function denyCall(
  { runs, sessions, operations }: OperationsStore,
  { run, key }: RunSummary,
  {
    callId,
    operator,
    beforeAdd,
  }: { callId: string | undefined; operator: string; beforeAdd(call: string): Promise<unknown> },
): Promise<DeniedCall> {
  const scope = { tenant: key.tenant, run }
  const [stored, described] = await Promise.all([runs.get(scope), operations.describe({ ...scope, limit: 1 })])
  if (stored === undefined || described === undefined) throw runNotFound(run)
  const call = chosen(
    run,
    described.pending.map((one) => one.callId),
    callId,
  )
  const turn = await sessions.find(stored.key, { turnId: run })
  if (turn?.rest.suspension?.calls[call]?.inner !== undefined)
    throw refused(`Only an approver can decide the call "${call}" of a sub-agent.`)
  await beforeAdd(call)
  const { principal, version: began } = storedTask(stored.task)
  const { agent, version, queue, priority, shape: digest } = stored
  const request = { decisions: { [call]: { deny: denial } }, operator }
  const added = await runs.add({
    ...{ run: crypto.randomUUID(), key: stored.key, agent, version, queue, priority, resolvedCalls: [call] },
    ...(digest !== undefined && { shape: { digest } }),
    task: { ...request, ...defined({ principal, version: began }) },
  })
  return { run: added.run.run, callId: call }
}

function chosen(run: string, pending: readonly string[], callId: string | undefined): string {
  const [only, another] = pending
  if (only === undefined) throw refused(`The run "${run}" has no call that waits for a decision.`)
  if (callId === undefined && another === undefined) return only
  if (callId !== undefined && pending.includes(callId)) return callId
  const ids = pending
    .slice(0, 10)
    .map((id) => `"${id}"`)
    .join(', ')
  throw refused(`The run "${run}" waits for decisions on ${ids}. Pass the id of one of these calls.`)
}

function refused(message: string): AlliumError {
  return new AlliumError('run.options', message)
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
