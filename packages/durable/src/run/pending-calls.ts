import type { PendingCall } from '@allium/core'
import type { DurableRun } from '@allium/store'
import type { Host } from '../host/host.ts'

/** Returns the calls of a suspended run that are still pending. A later run may have had some of them decided. */
export async function pendingCallsOf(
  { agent, sessions, logger }: Pick<Host, 'agent' | 'sessions' | 'logger'>,
  { run, key }: Pick<DurableRun, 'run' | 'key'>,
  principal: unknown,
): Promise<readonly PendingCall[]> {
  const stored = await sessions.load(key)
  if (stored?.rest.suspension?.turnId !== run) return []
  const session = agent.session({ id: key.sessionId, principal: principal as never })
  try {
    await session.open()
    return session.pending
  } catch (error) {
    // Callers report the run in any case: readers find the calls in the session.
    logger.warn(`The pending calls of the durable run "${run}" could not be read.`, { error })
    return []
  } finally {
    await session.close().catch(() => {})
  }
}
