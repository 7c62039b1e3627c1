import type { RequestRecord } from '@allium/server/inspect'
import { useState } from 'preact/hooks'
import { filesOf, isFile } from '../store/content.ts'
import { messagesOf, toolsOf } from '../store/request-messages.ts'
import type { StoredMessage } from '../store/sessions.ts'
import type { Turn } from '../store/trace.ts'
import { FileView } from './file-view.tsx'
import { pretty } from './format.ts'
import { Block } from './span-details.tsx'

/** Messages that are shown at first, from the end. */
const shownAtFirst = 20
const shownMore = 20

/** A request as the model received it: the system prompt, the messages, the tools and the settings. */
export function RequestView({ turn, index }: { turn: Turn; index: number }) {
  const [shown, setShown] = useState(shownAtFirst)
  const { settings, toolChoice, responseFormat } = turn.requests[index] as RequestRecord
  const messages = messagesOf(turn.requests, index) as unknown as StoredMessage[]
  const tools = toolsOf(turn.requests, index) ?? []
  const hidden = Math.max(0, messages.length - Math.min(shown, 60))
  return (
    <div class="request">
      <div class="label">{`Request: ${messages.length} messages, ${tools.length} tools`}</div>
      {hidden > 0 && shown < 60 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + shownMore)}>
          Show earlier messages
        </button>
      )}
      {messages.slice(hidden).map((message, at) => (
        <div key={hidden + at} class={`sent ${message.role}`}>
          <strong>{message.role}</strong>
          <SentContent content={message.content} />
        </div>
      ))}
      {tools.slice(0, 50).map(({ name, description, ...rest }) => (
        <details key={name} class="card">
          <summary>
            <span class="tool-name">{name}</span> {description}
          </summary>
          <pre>{pretty(rest)}</pre>
        </details>
      ))}
      <Block title="Settings" text={pretty({ ...settings, toolChoice, responseFormat })} />
    </div>
  )
}

/** The content of a message. Files are shown below the other parts. */
function SentContent({ content }: Pick<StoredMessage, 'content'>) {
  if (typeof content === 'string') return <pre>{content}</pre>
  const others = content.filter((part) => !isFile(part))
  return (
    <>
      {others.length > 0 && <pre>{pretty(others)}</pre>}
      {filesOf({ content }).map((file, index) => (
        <FileView key={index} file={file} />
      ))}
    </>
  )
}
