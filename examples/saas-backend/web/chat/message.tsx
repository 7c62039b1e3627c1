import { getToolName, isToolUIPart, type UIMessage } from 'ai'
import { Fragment, memo } from 'react'
import { Name } from '../shared/name.tsx'
import { agentLabel, handedOffTo } from './agents.ts'
import { type Steered, steerIn } from './history.ts'
import { Markdown } from './markdown.tsx'
import type { Outgoing } from './outbox.ts'
import { type Decide, ToolCard } from './tool-card.tsx'

type Part = UIMessage['parts'][number]

export interface MessageProps {
  message: UIMessage
  /** The agent that the answer begins with; undefined if it is not known. */
  agent: string | undefined
  steers: readonly Outgoing[]
  /** Whether to show a caret at the end of its text. */
  isWriting: boolean
  decide: Decide
}

/** A message with its parts. Text of the user is shown as is; text of the model is Markdown. */
export const MessageView = memo(function MessageView({ message, agent, steers, isWriting, decide }: MessageProps) {
  if (message.role === 'user') return <UserMessage text={textIn(message.parts)} files={message.parts} />
  const pieces = piecesOf(message.parts, agent)
  return pieces.map(({ steer, handedTo, agent, parts }, at) => (
    <Fragment key={`${at}`}>
      {steer !== undefined && (
        <UserMessage
          text={
            steers.find(({ id }) => id === steer.id)?.text ?? steer.text ?? 'A message that you sent during the answer.'
          }
        />
      )}
      {handedTo !== undefined && <Handoff to={handedTo} />}
      {parts.some(isShown) && (
        <article className="message assistant" aria-label={agentLabel(agent)}>
          {agent !== undefined && (
            <p className="author" aria-hidden="true">
              {agentLabel(agent)}
            </p>
          )}
          {parts.map((part, index) => (
            <PartView key={isToolUIPart(part) ? part.toolCallId : `${index}`} part={part} decide={decide} />
          ))}
          {isWriting && at === pieces.length - 1 && <span className="caret" aria-hidden="true" />}
        </article>
      )}
    </Fragment>
  ))
})

/** The place where another agent continues. */
function Handoff({ to }: { to: string }) {
  return (
    <p className="handoff">
      <span>Handed off to {agentLabel(to)}</span>
    </p>
  )
}

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
  if (isHandoff(part)) return null
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
  /** The agent that the conversation was handed off to before these parts. */
  handedTo?: string
  agent: string | undefined
  parts: Part[]
}

/** An answer, split where it read messages of the user, and where another agent continued it. */
function piecesOf(parts: readonly Part[], agent: string | undefined): Piece[] {
  let last: Piece = { agent, parts: [] }
  const pieces = [last]
  const begin = (piece: Piece) => pieces.push((last = piece))
  for (const part of parts) {
    const [steer, handedTo] = [steerIn(part), handedOffTo(part)]
    if (handedTo !== undefined) begin({ handedTo, agent: handedTo, parts: [] })
    else if (steer === undefined) last.parts.push(part)
    else if (steer.delivered) begin({ steer, agent: last.agent, parts: [] })
  }
  return pieces
}

/** A handoff is shown once it is done. */
function isHandoff(part: Part): boolean {
  return isToolUIPart(part) && getToolName(part) === 'handoff' && part.state !== 'output-error'
}

function isShown(part: Part): boolean {
  if (isHandoff(part)) return false
  return isToolUIPart(part) || part.type === 'file' || (part.type === 'text' && part.text !== '')
}

function textIn(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
