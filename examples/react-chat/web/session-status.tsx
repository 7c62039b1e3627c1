import { type ChatSession, useSession } from '@allium/react'
import { client } from './client.ts'

/** A second component on the same session. It opens no second connection. */
export function SessionStatus({ sessionId }: { sessionId: string }) {
  const { status, pending } = useSession({ client, sessionId })
  const [call] = pending
  return (
    <p className="status">
      {words[status]}
      {call !== undefined && `: a refund of $${(call.args.cents / 100).toFixed(2)} for order ${call.args.order}`}
    </p>
  )
}

const words: Record<ChatSession['status'], string> = {
  loading: 'Loading…',
  idle: 'Ready',
  sending: 'Sending…',
  streaming: 'Answering…',
  stopping: 'Stopping…',
  suspended: 'Waiting for your decision',
  failed: 'Failed',
}
