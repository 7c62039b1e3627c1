import type { SessionKey } from '@allium/core'
import type { Feedback } from '@allium/store'
import type { StoreReader } from '../host/host.ts'
import type { FeedbackView } from '../sessions/feedback-view.ts'

/** Returns the feedback without the key of the session, and with the id of the message that shows the answer. */
export async function viewOf(
  { sessions }: StoreReader,
  key: SessionKey,
  { run: { turnId }, by: _, ...rest }: Feedback,
): Promise<FeedbackView> {
  const turn = await sessions.find(key, { turnId })
  const answer = turn?.messages.findIndex(({ role }) => role === 'assistant') ?? -1
  const messageId = turn === undefined || answer === -1 ? undefined : `message-${turn.from + answer}`
  return { turnId, ...(messageId !== undefined && { messageId }), ...rest }
}
