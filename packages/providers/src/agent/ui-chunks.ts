import { AlliumError } from '@allium/core'
import type { CitationPart, SourcePart, Sources } from './citations.ts'
import type { TextPart } from './text-parts.ts'

/** The options that `createAgentUIStreamResponse` of `ai` 6 passes on; `ai` 7 creates the chunks itself. */
export interface UiStreamOptions {
  sendReasoning?: boolean
  sendSources?: boolean
  sendStart?: boolean
  sendFinish?: boolean
  originalMessages?: readonly { id: string; role: string }[]
  generateMessageId?: () => string
  messageMetadata?: (given: { part: TextPart }) => unknown
  onError?: (error: unknown) => string
  onFinish?: unknown
  onStepFinish?: unknown
}

export type UiChunk = { type: string; [field: string]: unknown }

/** @throws AlliumError `run.options` for callbacks that an Allium agent does not call */
export function checkUiOptions({ onFinish, onStepFinish }: UiStreamOptions): void {
  if (onFinish === undefined && onStepFinish === undefined) return
  throw new AlliumError(
    'run.options',
    'An Allium agent does not call onFinish and onStepFinish under ai 6, because it has its own history. Listen with agent.on("turn:end"), or store sessions with memory.persist.',
  )
}

/** Converts a part of the stream to the chunks for a page. @param sources the sources that the page has */
export function* uiChunks(part: TextPart, options: UiStreamOptions, sources: Sources): Generator<UiChunk> {
  const metadata = options.messageMetadata?.({ part })
  const chunk = chunkOf(part, options)
  const carries = part.type === 'start' || part.type === 'finish'
  if (chunk !== undefined) yield carries && metadata != null ? { ...chunk, messageMetadata: metadata } : chunk
  if (part.type === 'source') sources.standalone(part as SourcePart)
  // `ai` 6 has no citations, so it receives the cited sources that it does not have yet.
  const { citations = [] } = part as { citations?: CitationPart[] }
  for (const { source } of options.sendSources === true ? citations : [])
    if (sources.firstTime(source) !== undefined) yield sourceChunk(source)
  if (!carries && metadata != null) yield { type: 'message-metadata', messageMetadata: metadata }
}

function chunkOf(part: TextPart, options: UiStreamOptions): UiChunk | undefined {
  const { sendReasoning = true, sendSources = false, sendStart = true, sendFinish = true } = options
  const { onError = () => 'An error occurred.' } = options
  const { type, id, toolCallId, toolName, input, providerExecuted } = part
  const executedField = providerExecuted === true ? { providerExecuted } : {}
  switch (type) {
    case 'text-start':
    case 'text-end':
      return { type, id }
    case 'text-delta':
      return { type, id, delta: part.text }
    case 'reasoning-start':
    case 'reasoning-end':
      return sendReasoning ? { type, id } : undefined
    case 'reasoning-delta':
      return sendReasoning ? { type, id, delta: part.text } : undefined
    case 'tool-input-start':
      return { type, toolCallId: id, toolName, ...executedField }
    case 'tool-input-delta':
      return { type, toolCallId: id, inputTextDelta: part.delta }
    case 'tool-call':
      return { type: 'tool-input-available', toolCallId, toolName, input, ...executedField }
    case 'tool-approval-request':
      return { type, approvalId: part.approvalId, toolCallId: (part.toolCall as TextPart).toolCallId }
    case 'tool-result':
      return { type: 'tool-output-available', toolCallId, output: part.output, ...executedField }
    case 'tool-error':
      return { type: 'tool-output-error', toolCallId, errorText: part.error, ...executedField }
    case 'tool-output-denied':
      return { type, toolCallId }
    case 'file':
      return fileChunk(part.file as { mediaType: string; base64: string })
    case 'source':
      return sendSources ? sourceChunk(part) : undefined
    case 'start-step':
    case 'finish-step':
      return { type }
    case 'start':
      return sendStart ? { type, ...idOf(options) } : undefined
    case 'finish':
      return sendFinish ? { type, finishReason: part.finishReason } : undefined
    case 'abort':
      return part
    case 'error':
      return { type, errorText: onError(part.error) }
  }
  return undefined
}

function fileChunk({ mediaType, base64 }: { mediaType: string; base64: string }): UiChunk {
  return { type: 'file', mediaType, url: `data:${mediaType};base64,${base64}` }
}

function sourceChunk({ sourceType, id, url, title, mediaType, filename }: TextPart): UiChunk {
  const named = title === undefined ? {} : { title }
  if (sourceType === 'url') return { type: 'source-url', sourceId: id, url, ...named }
  return { type: 'source-document', sourceId: id, mediaType, ...named, ...(filename !== undefined && { filename }) }
}

/** A continued answer keeps the id of its message. */
function idOf({ originalMessages, generateMessageId }: UiStreamOptions): { messageId?: string } {
  const last = originalMessages?.at(-1)
  if (last?.role === 'assistant') return { messageId: last.id }
  return generateMessageId === undefined ? {} : { messageId: generateMessageId() }
}
