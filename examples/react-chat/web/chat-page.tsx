import { Thread, useSession } from '@allium/react'
import { client } from './client.ts'
import { SessionStatus } from './session-status.tsx'

export function ChatPage({ sessionId }: { sessionId: string }) {
  const session = useSession({ client, sessionId })
  return (
    <main>
      <header>
        <h1>Support</h1>
        <SessionStatus sessionId={sessionId} />
      </header>
      <Thread session={session} />
    </main>
  )
}
