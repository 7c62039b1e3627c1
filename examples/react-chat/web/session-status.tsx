import { useSession } from '@allium/react'
import { client } from './client.ts'

/** A second component on the same session. It opens no second connection. */
export function SessionStatus({ sessionId }: { sessionId: string }) {
  const { status, pending } = useSession({ client, sessionId })
  const [call] = pending
  return (
    <p className="status">
      {status}
      {call !== undefined && `: a refund of ${(call.args.cents / 100).toFixed(2)} for order ${call.args.order}`}
    </p>
  )
}
