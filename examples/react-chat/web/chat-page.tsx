import { Thread, useSession } from '@allium/react'
import { client } from './client.ts'
import { SessionStatus } from './session-status.tsx'
import { useScrollToEnd } from './use-scroll-to-end.ts'

export function ChatPage({ sessionId }: { sessionId: string }) {
  const session = useSession({ client, sessionId })
  useScrollToEnd(session.messages)
  return (
    <main>
      <header>
        <h1>Support</h1>
        <SessionStatus sessionId={sessionId} />
      </header>
      {session.messages.length === 0 && <p>A script answers. Ask for a refund, or for a long answer.</p>}
      <Thread session={session} />
    </main>
  )
}
