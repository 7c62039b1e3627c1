import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { useEffect, useRef, useState } from 'react'
import type { Me } from '../shared/api.ts'
import { Composer } from './composer.tsx'
import { steer, stop } from './control.ts'
import { isLost, wordsOf } from './errors.ts'
import { MessageView } from './message.tsx'
import { Suggestions } from './suggestions.tsx'

export interface ChatProps {
  id: string
  me: Me
  stored: UIMessage[]
  changed(): void
  /** Reads it from the server again, and follows what goes on there. */
  reload(): void
}

const transport = new DefaultChatTransport({ api: '/api/chat' })

export function Chat({ id, me, stored, changed, reload }: ChatProps) {
  const [unheard, setUnheard] = useState(false)
  const { messages, sendMessage, status, error, clearError, addToolApprovalResponse } = useChat({
    id,
    messages: stored,
    resume: stored.length > 0,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: changed,
    onData: ({ type, data }) => type === 'data-steer' && setUnheard((data as { heard?: boolean }).heard === false),
  })
  const busy = status === 'submitted' || status === 'streaming'
  const lost = error !== undefined && isLost(error)
  useReconnect(lost, reload)
  const follow = useFollow(messages)

  /** False where nothing could hear it: the answer was ending. */
  const send = async (text: string): Promise<boolean> => {
    clearError()
    setUnheard(false)
    if (busy) return steer(id, text)
    void sendMessage({ text })
    return true
  }
  const decide = (approvalId: string, approved: boolean) =>
    addToolApprovalResponse({ id: approvalId, approved, ...(!approved && { reason: 'A person said no.' }) })

  return (
    <>
      <div {...follow} className="messages" role="log" aria-label="Conversation" aria-busy={busy}>
        {messages.length === 0 && <Suggestions me={me} send={send} />}
        {messages.map((message, at) => (
          <MessageView key={message.id} message={message} live={busy && at === messages.length - 1} decide={decide} />
        ))}
        {status === 'submitted' && <p className="quiet typing">Thinking…</p>}
        {lost && (
          <p className="notice" role="status">
            The connection was lost. Reconnecting…
          </p>
        )}
        {unheard && (
          <p className="notice" role="status">
            What you said meanwhile was not heard. Send it again.
          </p>
        )}
        {error && !lost && (
          <div className="notice error" role="alert">
            <p>{wordsOf(error)}</p>
            <button type="button" className="plain" onClick={clearError}>
              Dismiss
            </button>
          </div>
        )}
      </div>
      <Composer busy={busy} send={send} stop={() => stop(id)} />
    </>
  )
}

/** A lost connection is tried again each second. */
function useReconnect(lost: boolean, reload: () => void): void {
  useEffect(() => {
    if (!lost) return
    const timer = setTimeout(reload, 1000)
    return () => clearTimeout(timer)
  }, [lost, reload])
}

/** Keeps the end in sight, unless somebody has scrolled up. */
function useFollow(messages: readonly UIMessage[]) {
  const list = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  useEffect(() => {
    const { current } = list
    if (messages.length > 0 && follows.current) current?.scrollTo(0, current.scrollHeight)
  }, [messages])
  const onScroll = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = list.current ?? {}
    follows.current = scrollHeight - scrollTop - clientHeight < 80
  }
  return { ref: list, onScroll }
}
