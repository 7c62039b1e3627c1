import { isToolUIPart, type UIMessage } from 'ai'

type Part = UIMessage['parts'][number]

/** Whether the user may approve the call of a card that asks. Without permission its approval has no token, only the id of the call. */
export function mayApprove(part: Part): boolean {
  return isToolUIPart(part) && part.state === 'approval-requested' && part.approval.id !== part.toolCallId
}

/** Whether to send the user's decisions: there is one, and no other call of the answer waits for this user. */
export function areDecisionsComplete({ messages }: { messages: UIMessage[] }): boolean {
  const parts = messages.at(-1)?.role === 'assistant' ? (messages.at(-1)?.parts ?? []) : []
  const isDecided = parts.some((part) => isToolUIPart(part) && part.state === 'approval-responded')
  return isDecided && !parts.some(mayApprove)
}
