import { isToolUIPart, type UIMessage } from 'ai'
import { Fragment, memo } from 'react'
import { Name } from '../shared/name.tsx'
import { type Steered, steerIn } from './history.ts'
import { Markdown } from './markdown.tsx'
import type { Outgoing } from './outbox.ts'
import { type Decide, ToolCard } from './tool-card.tsx'

type Part = UIMessage['parts'][number]

export interface MessageProps {
  message: UIMessage
  steers: readonly Outgoing[]
  /** Whether to show a caret at the end of its text. */
  isWriting: boolean
  decide: Decide
}

/** A message with its parts. Text of the user is shown as is; text of the model is Markdown. */
export const MessageView = memo(function MessageView({ message, steers, isWriting, decide }: MessageProps) {
  if (message.role === 'user') return <UserMessage text={textIn(message.parts)} files={message.parts} />
  const pieces = splitBySteers(message.parts)
  return pieces.map(({ steer, parts }, at) => (
    <Fragment key={`${at}`}>
      {steer !== undefined && (
        <UserMessage
          text={
            steers.find(({ id }) => id === steer.id)?.text ?? steer.text ?? 'A message that you sent during the answer.'
          }
        />
      )}
      {parts.some(isShown) && (
        <article className="message assistant" aria-label="Support">
          {parts.map((part, index) => (
            <PartView key={isToolUIPart(part) ? part.toolCallId : `${index}`} part={part} decide={decide} />
          ))}
          {isWriting && at === pieces.length - 1 && <span className="caret" aria-hidden="true" />}
        </article>
      )}
    </Fragment>
  ))
})

interface UserMessageProps {
  text: string
  files?: readonly Part[]
  note?: string
}

export function UserMessage({ text, files = [], note }: UserMessageProps) {
  return (
    <article className="message user" aria-label="You">
      <p dir="auto">{text}</p>
      {files.map((part, at) => part.type === 'file' && <FileView key={`${at}`} {...part} />)}
      {note && <small className="quiet">{note}</small>}
    </article>
  )
}

function PartView({ part, decide }: { part: Part; decide: Decide }) {
  if (isToolUIPart(part)) return <ToolCard part={part} decide={decide} />
  if (part.type === 'text') return <Markdown text={part.text} />
  return part.type === 'file' ? <FileView {...part} /> : null
}

/** Shows a file's name. Never loads the file. */
function FileView({ filename, mediaType }: { filename?: string | undefined; mediaType: string }) {
  return (
    <p className="file">
      <Name of={filename ?? 'File'} />{' '}
      <span className="quiet">
        <Name of={mediaType} />
      </span>
    </p>
  )
}

interface Piece {
  /** The message of the user that the answer read before these parts. */
  steer?: Steered
  parts: Part[]
}

/** An answer, split where it read messages of the user. */
function splitBySteers(parts: readonly Part[]): Piece[] {
  const pieces: Piece[] = [{ parts: [] }]
  for (const part of parts) {
    const steer = steerIn(part)
    if (steer === undefined) pieces.at(-1)?.parts.push(part)
    else if (steer.delivered) pieces.push({ steer, parts: [] })
  }
  return pieces
}

function isShown(part: Part): boolean {
  return isToolUIPart(part) || part.type === 'file' || (part.type === 'text' && part.text !== '')
}

function textIn(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
