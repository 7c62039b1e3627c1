import type { RequestRecord } from '@allium/server/inspect'
import { useState } from 'preact/hooks'
import { filesOf, isFile } from '../store/content.ts'
import { messagesOf, toolsOf } from '../store/request-messages.ts'
import type { StoredMessage } from '../store/sessions.ts'
import type { Turn } from '../store/trace.ts'
import { FileView } from './file-view.tsx'
import { count, pretty } from './format.ts'
import { Block } from './span-details.tsx'

/** Messages that are shown at first, from the end. */
const shownAtFirst = 20
const shownMore = 20
/** System messages at the start, which are always shown. */
const maxSystem = 10
/** Tools that are shown at first, and more on each click. */
const toolsStep = 50

/** A request as the model received it: the system prompt, the messages, the tools and the settings. */
export function RequestView({ turn, index }: { turn: Turn; index: number }) {
  const [shown, setShown] = useState(shownAtFirst)
  const [shownTools, setShownTools] = useState(toolsStep)
  const { settings, toolChoice, responseFormat } = turn.requests[index] as RequestRecord
  const messages = messagesOf(turn.requests, index) as unknown as StoredMessage[]
  const tools = toolsOf(turn.requests, index) ?? []
  const system = messages.findIndex(({ role }) => role !== 'system')
  const first = Math.min(system === -1 ? messages.length : system, maxSystem)
  const from = Math.max(first, messages.length - Math.min(shown, 60))
  const listed = messages.map((message, at) => ({ message, at })).filter(({ at }) => at < first || at >= from)
  return (
    <div class="request">
      <div class="label">{`Request: ${count(messages.length, 'message')}, ${count(tools.length, 'tool')}`}</div>
      {from > first && shown < 60 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + shownMore)}>
          Show earlier messages
        </button>
      )}
      {listed.map(({ at, message }) => (
        <div key={at} class={`sent ${message.role}`}>
          <strong>{message.role}</strong>
          <SentContent content={message.content} />
        </div>
      ))}
      {from > first && shown >= 60 && <p class="empty">{`${from - first} earlier messages are not shown.`}</p>}
      {tools.slice(0, shownTools).map(({ name, description, ...rest }) => (
        <details key={name} class="card">
          <summary>
            <span class="tool-name">{name}</span> {description}
          </summary>
          <pre>{pretty(rest)}</pre>
        </details>
      ))}
      {tools.length > shownTools && (
        <button type="button" class="quiet" onClick={() => setShownTools(shownTools + toolsStep)}>
          {`Show more of the ${tools.length} tools`}
        </button>
      )}
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
