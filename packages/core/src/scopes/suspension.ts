import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { pendingParts } from '../messages/history.ts'
import { cloneJson } from '../messages/json.ts'
import type { ToolCallPart } from '../messages/message.ts'
import type { Inner, PendingCall, SuspendedCall, Suspension } from '../state/snapshot.ts'

/** What a seal is made of. */
export function bindingOf(callId: string, call: Omit<SuspendedCall, 'token'> & { token?: string }): unknown {
  const { token: _, inner: __, ...bound } = call
  return { callId, ...bound }
}

/** The calls that wait, as those who decide see them; a sub-agent's calls stand in the place of the call that runs it. */
export function pendingCalls(calls: readonly ToolCallPart[], suspension: Suspension | undefined): PendingCall[] {
  return calls.flatMap(({ callId, name, args }): PendingCall[] => {
    const { inner, request, expiresAt, token } = suspension?.calls[callId] ?? {}
    if (inner !== undefined) return innerPending(callId, inner)
    return [
      {
        callId,
        name,
        args: cloneJson(args),
        ...(request !== undefined && { request }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(token !== undefined && { token }),
      },
    ]
  })
}

/** The id of a sub-agent's call, for those who decide: `outer/inner`. */
export function innerPending(outer: string, { agent, snapshot }: Inner): PendingCall[] {
  const waiting = pendingParts(snapshot.history)
  return pendingCalls(waiting, snapshot.suspension).map(({ callId, path = [], ...call }) => ({
    ...call,
    callId: `${outer}/${callId}`,
    path: [agent, ...path],
  }))
}

/** @throws AlliumError `history.invalid` unless it is what a snapshot holds */
export function checkSuspension(value: unknown): asserts value is Suspension | undefined {
  if (value === undefined) return
  const { turnId, rootId, stepIndex, calls, state } = (value ?? {}) as Partial<Suspension>
  const whole = typeof turnId === 'string' && typeof rootId === 'string' && typeof stepIndex === 'number'
  if (whole && typeof calls === 'object' && calls !== null && typeof state === 'object' && state !== null) return
  throw new AlliumError(
    'history.invalid',
    `The suspension of a snapshot is what session.snapshot() gave, but ${describe(value)} was given. Restore the whole snapshot, unchanged.`,
  )
}
