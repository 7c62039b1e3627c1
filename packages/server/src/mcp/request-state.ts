import { digestOf } from '@allium/core/internal'
import type { Runtime, Seals } from '../host/host.ts'
import type { CursorScope } from '../http/cursors.ts'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'

/** What the server has to know of a call whose questions the client answers in its next request. */
export interface RequestState {
  readonly sessionId: string
  /** The tokens of the pending calls, by the keys of the questions about them. */
  readonly shown: Readonly<Record<string, string | undefined>>
}

/** Milliseconds for which the client can answer. */
const lifetime = 30 * 60_000

/** Returns the scope of a state: the caller, the agent, and the arguments of the call, which the client repeats. */
export async function stateScope({ tenant, owner, agent }: Caller, args: unknown): Promise<CursorScope> {
  return ['mcp', tenant, owner, agent.name, await digestOf(args)]
}

/**
 * Seals a state for the client, so that any process with the same `secret` can serve its next request:
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function sealState({ cursors, clock }: Seals & Runtime, scope: CursorScope, state: RequestState) {
  return cursors.seal(JSON.stringify({ ...state, expiresAt: clock.now() + lifetime }), scope)
}

/** @throws AlliumError `approval.forged` for a state of another caller, agent or call, or a changed one; `approval.expired` */
export async function openState(
  { cursors, clock }: Seals & Runtime,
  scope: CursorScope,
  sealed: string,
): Promise<RequestState> {
  const opened = await cursors.open(sealed, scope).catch(() => {
    throw requestError(
      'approval.forged',
      'The `requestState` does not belong to this call. Repeat the call without it. If several processes serve the agent, give them the same `secret`.',
    )
  })
  const { expiresAt, ...state } = JSON.parse(opened) as RequestState & { expiresAt: number }
  if (clock.now() < expiresAt) return state
  throw requestError('approval.expired', 'The `requestState` has expired. Repeat the call without it.')
}
