import { isAlliumError, type PendingCall, type Usage } from '@allium/core'
import type { Pump } from './pump.ts'

/** What a run came to, as a client is told it. */
export interface Answer {
  sessionId: string
  turnId: string
  status: string
  text: string
  usage: Usage
  reason?: unknown
  code?: unknown
  retryAfter?: unknown
  pending: readonly PendingCall[]
  resumes?: unknown
}

/** Waits for the end of a run as one of its readers, until `signal` tells that they have left. @throws what it failed with */
export async function resultOf(pump: Pump, signal: AbortSignal): Promise<Answer> {
  let joined = true
  const leave = () => {
    if (joined) pump.leave()
    joined = false
  }
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await ended(pump)
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** A run that was stopped has an answer too: what there was of it. */
async function ended(pump: Pump): Promise<Answer> {
  try {
    const { sessionId, turnId, status, text, reason, code, retryAfter, usage, pending, resumes } = await pump.result
    return { sessionId, turnId, status, text, reason, code, retryAfter, usage, pending, resumes }
  } catch (error) {
    const { name, partial } = error as { name?: unknown; partial?: { text: string; usage: Usage; turnId?: string } }
    if (name !== 'AbortError' || isAlliumError(error) || partial?.turnId === undefined) throw error
    const { text, usage, turnId } = partial
    return { sessionId: pump.key.sessionId, turnId, status: 'aborted', text, usage, pending: [] }
  }
}
