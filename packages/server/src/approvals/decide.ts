import type { Decision } from '@allium/core'
import type { Access, RunControl, StoreReader } from '../host/host.ts'
import type { Caller } from '../request/caller.ts'
import { findCallByToken, ownerPrincipal } from './pending-calls.ts'

/** Returns false if only owners decide, because there is no `resolvePrincipal` or the agent has no rule. */
export function canDecideForOthers({ options }: Access, { agent }: Caller): boolean {
  return options.resolvePrincipal !== undefined && agent.inspect().approvers !== 'owner'
}

/** Resumes the run of a pending call with a decision. The run continues as the session's owner, and the approver sees nothing of it. */
export async function decide(
  host: Access & StoreReader & RunControl,
  caller: Caller,
  token: string,
  decision: Decision,
): Promise<object> {
  const { key, call } = await findCallByToken(host, caller, token)
  const { callId } = call
  const run = await host.runs.start({
    agent: caller.agent,
    principal: await ownerPrincipal(host, caller, key.owner),
    sessionId: key.sessionId,
    decisions: { [callId]: { ...decision, token } },
    approver: caller.principal,
    onDisconnect: 'continue',
  })
  // The approver reads nothing of the run. It is not an abandoned one, which the owner's next input would stop.
  const leave = () => run.readers.leave()
  run.ended.then(leave, leave)
  await run.started
  return { callId, decision: 'deny' in decision ? 'denied' : 'args' in decision ? 'edited' : 'approved' }
}
