import { memo, type ReactNode } from 'react'
import type { ChatMessage, MessagePart } from '../store/chat-message.ts'
import { classNames } from './class-names.ts'
import { EditMessage } from './edit-message.tsx'
import { EditUnsent } from './edit-unsent.tsx'
import { MessagePartView } from './message-part.tsx'
import { useLabels } from './thread-context.ts'

export interface MessageProps {
  message: ChatMessage
  className?: string | undefined
  /** Renders a part in another way, such as text as Markdown. Return undefined for the default. */
  renderPart?: ((part: MessagePart, message: ChatMessage) => ReactNode | undefined) | undefined
}

/** A message as a list item: its author, its status and its parts. */
export const Message = memo(function MessageItem({ message, className, renderPart }: MessageProps): ReactNode {
  const labels = useLabels()
  const { role, status, reason, parts } = message
  const note = [labels.messageStatus[status], reason].filter(Boolean).join(': ')
  return (
    <li className={classNames('allium-message', className)} data-role={role} data-status={status}>
      <p className="allium-author">
        {labels.roles[role]}
        {note !== '' && <span className="allium-message-status"> ({note})</span>}
      </p>
      {parts.map((part, index) => (
        <MessagePartView key={index} part={part} rendered={renderPart?.(part, message)} />
      ))}
      {status === 'unsent' && <EditUnsent id={message.id} />}
      {status === 'done' && role === 'user' && <EditMessage message={message} />}
    </li>
  )
})
