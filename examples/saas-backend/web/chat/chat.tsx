import type { Me } from '../shared/api.ts'
import { Activity, activityOf } from './activity.tsx'
import { agentLabel, lastAgent, startOf } from './agents.ts'
import { Composer, focusComposer } from './composer.tsx'
import type { History } from './history.ts'
import { Messages } from './messages.tsx'
import { Notices } from './notices.tsx'
import { Suggestions } from './suggestions.tsx'
import { useConversation } from './use-conversation.ts'
import { useFollow } from './use-follow.ts'

export interface ChatProps {
  id: string
  me: Me
  stored: History
  revision: string | undefined
  /** Whether the last answer was stopped, here or elsewhere. */
  isStopped: boolean
  changed(): void
}

export function Chat({ me, isStopped, ...of }: ChatProps) {
  const conversation = useConversation(of)
  const { messages, status, busy, unsent, say, write } = conversation
  const activity = activityOf(messages, status)
  const agent = lastAgent(messages) ?? startOf(of.stored)
  const { follow, jump } = useFollow([messages, unsent.steers, conversation.problem])
  const send = (text: string) => {
    jump()
    void say(text)
  }
  const decide = (approvalId: string, approved: boolean) => {
    // The buttons disappear, so move the focus to the message box.
    focusComposer()
    conversation.decide(approvalId, approved)
  }
  const stop = () => {
    focusComposer()
    void conversation.stop()
  }
  return (
    <>
      <div {...follow} className="messages" role="log" aria-label="Conversation" aria-busy={busy}>
        {messages.length === 0 && unsent.outgoing === undefined ? (
          <Suggestions me={me} send={send} />
        ) : (
          <h1 className="hidden">Conversation</h1>
        )}
        <Messages
          messages={messages}
          start={startOf(of.stored)}
          agent={agent}
          steers={unsent.steers}
          isWriting={activity === 'writing'}
          decide={decide}
        />
        <Activity now={activity} agent={agent} />
        <Notices of={conversation} isStopped={isStopped} />
      </div>
      {messages.length > 0 && <Answering agent={agent} />}
      <Composer text={unsent.draft} write={write} busy={busy} send={send} stop={stop} />
    </>
  )
}

/** Names the agent that reads the next message. */
function Answering({ agent }: { agent: string | undefined }) {
  return (
    <p className="answering quiet">
      You are talking to <strong>{agentLabel(agent)}</strong>
    </p>
  )
}
