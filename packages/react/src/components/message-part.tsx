import type { ReactNode } from 'react'
import type { MessagePart } from '../store/chat-message.ts'
import { useLabels } from './thread-context.ts'
import { ToolCall } from './tool-call.tsx'

/** A part of a message, as the page rendered it or by default. */
export function MessagePartView({ part, rendered }: { part: MessagePart; rendered: ReactNode | undefined }): ReactNode {
  const labels = useLabels()
  if (rendered !== undefined) return rendered
  switch (part.type) {
    case 'text':
      return <Paragraphs text={part.text} />
    case 'reasoning':
      return (
        <details className="allium-reasoning">
          <summary>{labels.reasoning}</summary>
          <Paragraphs text={part.text} />
        </details>
      )
    case 'file':
      return <File part={part} />
    case 'source':
      return <Source part={part} />
    case 'steer':
      return (
        <blockquote className="allium-steer">
          <p className="allium-author">{labels.roles.user}</p>
          <Paragraphs text={part.text} />
        </blockquote>
      )
    case 'tool':
      return <ToolCall part={part} />
  }
}

function Paragraphs({ text }: { text: string }): ReactNode {
  return (
    <div className="allium-text">
      {text.split(/\n{2,}/).map((paragraph, index) => (
        <p key={index}>{paragraph}</p>
      ))}
    </div>
  )
}

/**
 * A file can come from the model. Its link could run code in the page, and a remote image would tell its server what the model put into
 * the link. So only data and files of this server are shown at once.
 */
function File({ part: { url, mediaType, own } }: { part: MessagePart & { type: 'file' } }): ReactNode {
  // Browsers drop tabs and line breaks, so with one of them `/` could begin the address of another host.
  const isLocal = own === true || /^(?:data:|blob:|\/(?![/\\\t\n\r]))/i.test(url)
  if (isLocal && mediaType.startsWith('image/')) return <img className="allium-file" src={url} alt={mediaType} />
  if (!isLocal && !isWebUrl(url)) return <span className="allium-file">{mediaType}</span>
  return (
    <a className="allium-file" href={url} rel="noopener noreferrer" download>
      {mediaType}
    </a>
  )
}

function isWebUrl(url: string | undefined): url is string {
  return url !== undefined && /^https?:/i.test(url)
}

/** The link comes from the model. A `javascript:` link would run code in the page. */
function Source({ part: { url, title } }: { part: MessagePart & { type: 'source' } }): ReactNode {
  if (!isWebUrl(url)) return <span className="allium-source">{title ?? url}</span>
  return (
    <a className="allium-source" href={url} rel="noopener noreferrer">
      {title ?? url}
    </a>
  )
}
