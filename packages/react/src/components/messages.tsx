import type { ReactNode } from 'react'
import type { ChatMessage } from '../store/chat-message.ts'
import { classNames } from './class-names.ts'
import { Message } from './message.tsx'
import { useThread } from './thread-context.ts'

export interface MessagesProps {
  className?: string | undefined
  /** Renders a message as a list item. @default `<Message message={message} />` */
  children?: ((message: ChatMessage) => ReactNode) | undefined
}

/** The messages of the enclosing `Thread`, as a list. */
export function Messages({ className, children }: MessagesProps): ReactNode {
  const { session, labels } = useThread()
  return (
    <ol
      className={classNames('allium-messages', className)}
      aria-label={labels.messages}
      aria-busy={session.status === 'loading'}
    >
      {session.messages.map((message) => children?.(message) ?? <Message key={message.id} message={message} />)}
    </ol>
  )
}
