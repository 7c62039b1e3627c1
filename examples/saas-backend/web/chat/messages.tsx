import type { UIMessage } from 'ai'
import { Boundary } from '../shared/boundary.tsx'
import { Broken } from '../shared/states.tsx'
import { steerIn } from './history.ts'
import { MessageView, UserMessage } from './message.tsx'
import type { Outgoing } from './outbox.ts'
import type { Decide } from './tool-card.tsx'

export interface MessagesProps {
  messages: readonly UIMessage[]
  /** What the user has sent while an answer was being written. */
  steers: readonly Outgoing[]
  /** The end of the last message grows. */
  isWriting: boolean
  decide: Decide
}

/** All messages, and behind them those that the running answer has not read yet. */
export function Messages({ messages, steers, isWriting, decide }: MessagesProps) {
  const read = new Set(messages.flatMap(({ parts }) => parts.flatMap((part) => steerIn(part)?.id ?? [])))
  return (
    <>
      {messages.map((message, at) => (
        // A message keeps its place while ids change: the server gives those of the page's own messages.
        <Boundary key={`${at}`} fallback={<Broken>This message could not be shown.</Broken>}>
          <MessageView
            message={message}
            steers={steers}
            isWriting={isWriting && at === messages.length - 1}
            decide={decide}
          />
        </Boundary>
      ))}
      {steers
        .filter(({ id }) => !read.has(id))
        .map(({ id, text }) => (
          <UserMessage key={id} text={text} note="Support reads this before its next step." />
        ))}
    </>
  )
}
