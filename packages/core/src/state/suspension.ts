import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { pendingParts } from '../messages/calls.ts'
import { cloneJson } from '../messages/json.ts'
import type { ToolCallPart } from '../messages/message.ts'
import type { Inner, PendingCall, SuspendedCall, Suspension } from './snapshot.ts'

/** Returns the data that a seal covers. */
export function bindingOf(callId: string, call: Omit<SuspendedCall, 'token'> & { token?: string }): unknown {
  const { token: _, inner: __, ran: ___, ...bound } = call
  return { callId, ...bound }
}

/**
 * Returns the suspended calls. A call that runs a sub-agent is replaced with the sub-agent's calls. With `open`,
 * approvers see the arguments that would run, and the tokens. Others see the calls as the model made them.
 */
export function pendingCalls(
  calls: readonly ToolCallPart[],
  suspension: Suspension | undefined,
  open = true,
): PendingCall[] {
  return calls.flatMap(({ callId, name, args }): PendingCall[] => {
    const { inner, request, expiresAt, token, client, approvalRequest, ran = args } = suspension?.calls[callId] ?? {}
    if (inner !== undefined) return innerPending({ callId, token, refused: refusedOf(request) }, inner, open)
    return [
      {
        callId,
        name,
        args: cloneJson(open ? ran : args),
        ...(client === true && { client }),
        ...(approvalRequest !== undefined && { provider: approvalRequest.provider }),
        ...(request !== undefined && { request }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(token !== undefined && open && { token }),
      },
    ]
  })
}

/** Returns the calls of a sub-agent. Their ids are `outer/inner`, their tokens `outer.inner`. */
function innerPending(
  outer: { callId: string; token: string | undefined; refused: string | undefined },
  { agent, snapshot }: Inner,
  open: boolean,
): PendingCall[] {
  const parts = pendingParts(snapshot.history)
  return pendingCalls(parts, snapshot.suspension, open).map(({ callId, path = [], token, refused, ...call }) => {
    const why = refused ?? outer.refused
    return {
      ...call,
      callId: `${outer.callId}/${callId}`,
      ...(open && { token: `${outer.token}.${token}` }),
      path: [agent, ...path],
      ...(why !== undefined && { refused: why }),
    }
  })
}

function refusedOf(request: unknown): string | undefined {
  const { refused } = (request ?? {}) as { refused?: unknown }
  return typeof refused === 'string' ? refused : undefined
}

/** @throws AlliumError `history.invalid` unless it is the suspension of a snapshot */
export function checkSuspension(value: unknown): asserts value is Suspension | undefined {
  if (value === undefined) return
  const { turnId, rootId, stepIndex, calls } = (value ?? {}) as Partial<Suspension>
  const whole = typeof turnId === 'string' && typeof rootId === 'string' && typeof stepIndex === 'number'
  if (whole && typeof calls === 'object' && calls !== null) return
  throw new AlliumError(
    'history.invalid',
    `Invalid suspension in the snapshot: ${describe(value)}. Restore the whole result of session.snapshot(), unchanged.`,
  )
}
