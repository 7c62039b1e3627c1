import type { PendingCall, Usage } from '@allium/core'
import type { RunHandle } from './run-handle.ts'

/** The result of a run as clients receive it. */
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

/**
 * Waits for the answer of a run as one of its readers. The reader leaves when `signal` aborts. @throws the error that the run failed with
 */
export async function awaitAnswer(run: RunHandle, signal: AbortSignal): Promise<Answer> {
  let joined = true
  const leave = () => {
    if (joined) run.readers.leave()
    joined = false
  }
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await run.answer()
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}
