import type { ChatStatus, UIMessage } from 'ai'
import { agentLabel } from './agents.ts'

/** Shows either a caret after the streaming text, or a line about the current activity. */
type Now = 'idle' | 'thinking' | 'working' | 'writing'

export function activityOf(messages: readonly UIMessage[], status: ChatStatus): Now {
  if (status !== 'submitted' && status !== 'streaming') return 'idle'
  const last = messages.at(-1)
  const part = last?.role === 'assistant' ? last.parts.at(-1) : undefined
  if (status === 'submitted' || part === undefined) return 'thinking'
  if (part.type === 'text') return part.state === 'streaming' && part.text !== '' ? 'writing' : 'thinking'
  return part.type.startsWith('tool-') || part.type === 'dynamic-tool' ? 'working' : 'thinking'
}

const words = { thinking: 'Thinking…', working: 'Working…' }

/** The line is hidden from screen readers, which get a calm status instead of every piece of a text. */
export function Activity({ now, agent }: { now: Now; agent: string | undefined }) {
  const line = now === 'thinking' || now === 'working' ? words[now] : undefined
  return (
    <>
      {line && (
        <p className="quiet typing" aria-hidden="true">
          {line}
        </p>
      )}
      <p className="hidden" role="status">
        {now === 'idle' ? '' : `${agentLabel(agent)} is answering.`}
      </p>
    </>
  )
}
