import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { pendingParts } from '../messages/history.ts'
import { cloneJson } from '../messages/json.ts'
import type { Message, ToolCallPart } from '../messages/message.ts'

/** A tool call that waits for a human. */
export interface PendingCall {
  callId: string
  name: string
  /** As the model sent them. */
  args: Record<string, unknown>
  /** What the layer or tool that suspended it says of it. */
  request?: unknown
  /** Milliseconds since the epoch; from then on it can only be refused. */
  expiresAt?: number
  /** Stands for this very call: its tool, arguments, tenant and expiry. */
  token?: string
  /** The sub-agents that lead to the call, outermost first. */
  path?: readonly string[]
}

/** A suspended call as a session keeps it: digests, so that what is approved is what runs. */
export interface SuspendedCall {
  name: string
  /** The run that suspended it. */
  turnId: string
  /** The agent's version then. */
  version?: string
  /** The layer that suspended it; absent where the tool itself requires approval. */
  layer?: string
  /** Digest of the arguments that the model sent. */
  sent: string
  /** Digest of those that were to run, where it stood. */
  args: string
  /** Digest of the tool's JSON Schema. */
  schema: string
  tenant?: string
  expiresAt?: number
  request?: unknown
  token: string
  /** The sub-agent that waits inside the call. */
  inner?: Inner
}

/** A sub-agent that waits, and its session. */
export interface Inner {
  agent: string
  snapshot: Snapshot
}

/** A turn that waits: what its next run goes on from. */
export interface Suspension {
  /** The run that was suspended. */
  turnId: string
  /** The first run of the turn. */
  rootId: string
  stepIndex: number
  /** Why a layer had asked the loop to end. */
  stopReason?: string
  /** State of scope `turn`. */
  state: Record<string, unknown>
  calls: Record<string, SuspendedCall>
}

/** A conversation at rest: all that outlives a process. Plain data; JSON, but for bytes and URLs in messages. */
export interface Snapshot {
  history: Message[]
  state: Record<string, unknown>
  /** Turns that have ended. */
  turnCount?: number
  /** The turn that waits for a decision, if one does. */
  suspension?: Suspension
  /** Results of `ctx.once()` of the turn that waits. */
  once?: Record<string, unknown>
  /** Approvals that were used. */
  usedApprovals?: string[]
}

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
