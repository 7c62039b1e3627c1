import type { UIMessage } from 'ai'
import { Boundary } from '../shared/boundary.tsx'
import { Broken } from '../shared/states.tsx'
import { agentLabel, firstAgents } from './agents.ts'
import { steerIn } from './history.ts'
import { MessageView, UserMessage } from './message.tsx'
import type { Outgoing } from './outbox.ts'
import type { Decide } from './tool-card.tsx'

export interface MessagesProps {
  messages: readonly UIMessage[]
  /** The agent that the first of them begins with; undefined if it is not known. */
  start: string | undefined
  /** The agent that answers now. */
  agent: string | undefined
  /** The messages that the user sent during the answer. */
  steers: readonly Outgoing[]
  /** Whether the last message is streaming. */
  isWriting: boolean
  decide: Decide
}

/** All messages, followed by those that the running turn has not read yet. */
export function Messages({ messages, start, agent, steers, isWriting, decide }: MessagesProps) {
  const read = new Set(messages.flatMap(({ parts }) => parts.flatMap((part) => steerIn(part)?.id ?? [])))
  const agents = firstAgents(messages, start)
  return (
    <>
      {messages.map((message, at) => (
        // Keys by position, because the server replaces the ids of the page's messages.
        <Boundary key={`${at}`} fallback={<Broken>This message could not be shown.</Broken>}>
          <MessageView
            message={message}
            agent={agents[at]}
            steers={steers}
            isWriting={isWriting && at === messages.length - 1}
            decide={decide}
          />
        </Boundary>
      ))}
      {steers
        .filter(({ id }) => !read.has(id))
        .map(({ id, text }) => (
          <UserMessage key={id} text={text} note={`${agentLabel(agent)} reads this before its next step.`} />
        ))}
    </>
  )
}
