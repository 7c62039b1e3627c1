import type { FilePart, ImagePart, Message, ModelWarning, Part } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'
import { renamedIds } from './call-ids.ts'
import { Origin } from './origin.ts'

/** The usage and id of an answer, in each answer of Anthropic's package. No later request needs it. */
export const answerStart = 'anthropic.message_start'

/**
 * Returns a conversation as this model may read it. It gets no part of another provider's answers that only that provider can read:
 * its reasoning, its custom parts, the tools it ran, its metadata. A file becomes a note. Tool call ids follow the rules of the
 * model's API.
 *
 * @param warnings receives a warning for each file
 */
export function messagesFor(messages: readonly Message[], model: AiSdkModel, warnings: ModelWarning[]): Message[] {
  const reader: Reader = { model, origin: new Origin(model), dropped: new Set(), warnings }
  const newIds = renamedIds(messages, model)
  const renamed = (part: Part) =>
    'callId' in part ? { ...part, callId: newIds.get(part.callId) ?? part.callId } : part
  return messages.map((message) => {
    const { role, content } = message
    if (typeof content === 'string') return message
    const parts = role === 'assistant' ? content.flatMap((part) => readable(part, reader)) : content
    return { ...message, content: parts.map((part) => renamed(withoutFileId(part, reader))) }
  })
}

interface Reader {
  readonly model: AiSdkModel
  readonly origin: Origin
  /** The calls of tools that another provider ran. Their results may come in a later message. */
  readonly dropped: Set<string>
  readonly warnings: ModelWarning[]
}

function readable(part: Part, reader: Reader): Part[] {
  const { providerMetadata, ...unmarked } = part
  // Layers set this mark, and gateways to Claude take it, too.
  const cacheControl = providerMetadata?.anthropic?.cacheControl
  const plain: Part = cacheControl ? { ...unmarked, providerMetadata: { anthropic: { cacheControl } } } : unmarked
  const isOwn = reader.origin.wrote(providerMetadata, plain.type === 'custom' ? plain.kind : undefined)
  if (plain.type === 'custom') return isOwn && plain.kind !== answerStart ? [part] : []
  if (plain.type === 'tool-result') return reader.dropped.has(plain.callId) ? [] : [part]
  if (isOwn) return [part]
  switch (plain.type) {
    case 'text':
      return [plain]
    case 'tool-call':
      if (plain.providerExecuted !== true) return [plain]
      reader.dropped.add(plain.callId)
      return []
    case 'image':
    case 'file':
      return plain.type === 'file' && plain.reasoning ? [] : [note(plain, 'made by another model', reader)]
    default:
      return []
  }
}

/** OpenAI stores files, and knows them by their ids. Other packages would send the id as the bytes of the file. */
function withoutFileId(part: Part, reader: Reader): Part {
  if (part.type !== 'image' && part.type !== 'file') return part
  const isId = typeof part.data === 'string' && /^(file|assistant)-\w/.test(part.data)
  if (!isId || /^(openai|azure)\b/.test(reader.model.provider)) return part
  return note(part, `stored by another provider as ${part.data}`, reader)
}

function note({ mediaType }: ImagePart | FilePart, why: string, { warnings }: Reader): Part {
  const text = `[${mediaType}: ${why}]`
  warnings.push({ type: 'unsupported', feature: 'file', message: `A file is sent as the note ${text}` })
  return { type: 'text', text }
}
