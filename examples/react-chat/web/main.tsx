import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ChatPage } from './chat-page.tsx'

// Each chat has its own address, so a reload shows it again.
const { searchParams } = new URL(location.href)
const sessionId = searchParams.get('chat') ?? crypto.randomUUID()
history.replaceState(null, '', `?chat=${encodeURIComponent(sessionId)}`)

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <ChatPage sessionId={sessionId} />
  </StrictMode>,
)
