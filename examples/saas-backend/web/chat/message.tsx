import { isToolUIPart, type UIMessage } from 'ai'
import { Kept } from './kept.tsx'
import { Markdown } from './markdown.tsx'
import { type Decide, ToolCard } from './tool-card.tsx'

/** A message, part by part. What the user wrote is a text; what the model wrote is Markdown. */
export function MessageView({ message, live, decide }: { message: UIMessage; live: boolean; decide: Decide }) {
  const { role, parts } = message
  return (
    <article className={`message ${role}`} aria-label={role === 'user' ? 'You' : 'Support'}>
      {parts.map((part, at) => {
        const key = `${at}`
        if (isToolUIPart(part)) return <ToolCard key={part.toolCallId} part={part} decide={decide} />
        if (part.type !== 'text') return null
        return role === 'user' ? (
          <p key={key}>
            <Kept text={part.text} />
          </p>
        ) : (
          <Markdown key={key} text={part.text} />
        )
      })}
      {live && <span className="caret" aria-hidden="true" />}
    </article>
  )
}
