import { type CSSProperties, type ReactNode, useRef } from 'react'
import { messageText } from '../store/chat-message.ts'
import { useThread } from './thread-context.ts'

/** Hides text from the eye, and not from screen readers. */
const visuallyHidden: CSSProperties = {
  position: 'absolute',
  width: 1,
  height: 1,
  margin: -1,
  overflow: 'hidden',
  clipPath: 'inset(50%)',
  whiteSpace: 'nowrap',
}

/** Announces the status, and the answer sentence by sentence. Token by token, screen readers would stutter. */
export function Announcer(): ReactNode {
  const { session, labels } = useThread()
  const live = useRef<string>(undefined)
  const answer = session.messages.findLast(({ role }) => role === 'assistant')
  // Answers that were complete when the page was loaded are not announced.
  if (answer?.status === 'streaming') live.current = answer.id
  const isLive = answer !== undefined && answer.id === live.current
  const sentences = isLive ? finishedSentences(messageText(answer), answer.status !== 'streaming') : []
  return (
    <div className="allium-announcer" style={visuallyHidden}>
      <p role="status">{labels.status[session.status]}</p>
      <div role="log" aria-live="polite" aria-relevant="additions" aria-label={labels.roles.assistant}>
        {sentences.map((sentence, index) => (
          <p key={`${answer?.id}-${index}`}>{sentence}</p>
        ))}
      </div>
    </div>
  )
}

/** Returns the sentences of a text. While it is streamed, the last one is not finished. */
function finishedSentences(text: string, isComplete: boolean): string[] {
  const sentences = text.split(/(?<=[.!?\u3002\uff01\uff1f])\s+|\n+/)
  return (isComplete ? sentences : sentences.slice(0, -1)).filter((sentence) => sentence.trim() !== '')
}
