import {
  AlliumError,
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
  type ProviderMetadata,
  type TextPart,
} from '@allium/core'
import { unsupported } from './ai-sdk-model.ts'
import { isBlank, rejectsBlank } from './blank.ts'
import { acceptsUrl, fileContent } from './file-content.ts'
import type { ApprovalRequests, PromptContext, PromptPart } from './prompt-context.ts'
import { approvalPart, isAnswered } from './tool-approvals.ts'
import { executedOutput, toolOutput } from './tool-output.ts'

/**
 * Converts messages to the AI SDK's form. Consecutive tool messages become one, because Gemini counts the results of a
 * step. Empty texts are left out, and for Anthropic texts of white space.
 *
 * @throws AlliumError `provider.unsupported` for a URL that the model does not fetch, `message.invalid` for a part in a wrong role
 */
export function toPrompt(messages: readonly Message[], context: PromptContext): PromptPart[] {
  const prompt: PromptPart[] = []
  const callMetadata: CallMetadata = new Map()
  const approvalRequests: ApprovalRequests = new Map()
  for (const message of messages) {
    if (message.role !== 'tool') prompt.push(...movedImages(context))
    const lastMessage = prompt.at(-1)
    const content = toContent(message, context, { callMetadata, approvalRequests })
    if (message.role === 'system') {
      const system = toSystem(message)
      if (system.length === 0) continue
      prompt.push(...system)
    } else if (message.role === 'tool' && lastMessage?.role === 'tool')
      (lastMessage.content as PromptPart[]).push(...content)
    else if (content.length > 0) prompt.push({ role: message.role, content })
    else continue
    context.origin?.(prompt.at(-1) as PromptPart, message)
  }
  prompt.push(...movedImages(context))
  return prompt
}

/** Returns the images of the tool results before, as the message that APIs with text results take them in. */
function movedImages(context: PromptContext): PromptPart[] {
  const images = context.media?.takeMoved() ?? []
  if (images.length === 0) return []
  const text = 'The images of the tool results above, in their order. The user did not send them.'
  return [{ role: 'user', content: [{ type: 'text', text }, ...images.map((image) => toFile(image, context))] }]
}

/** Returns one system message, or one per part if a part has options such as cache control. None for a blank text. */
function toSystem({ content }: Message): PromptPart[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ role: 'system', content }]
  const texts = content.filter((part): part is TextPart => part.type === 'text' && !isBlank(part.text))
  if (texts.some((part) => part.providerMetadata !== undefined))
    return texts.map((part) => withOptions({ role: 'system', content: part.text }, part))
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.map((part) => part.text).join('') }]
}

/** The provider's metadata of each tool call. */
type CallMetadata = Map<string, ProviderMetadata>

function toContent(
  { role, content }: Message,
  context: PromptContext,
  { callMetadata, approvalRequests }: { callMetadata: CallMetadata; approvalRequests: ApprovalRequests },
): PromptPart[] {
  if (role === 'system') return []
  const parts: Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  let unanswered: Set<string> | undefined
  for (const part of parts)
    if (part.type === 'tool-call' && part.approvalRequest !== undefined)
      approvalRequests.set(part.callId, part.approvalRequest)
    else if (part.type === 'tool-result' && part.missing) (unanswered ??= new Set()).add(part.callId)
  const promptParts: PromptPart[] = []
  for (const part of parts) {
    if (!isEmittable(part, context) || isUnanswered(part, unanswered, context)) continue
    if (!isAnswered(part, approvalRequests, context)) continue
    const promptPart =
      approvalPart(part, approvalRequests, context) ?? withOptions(toPart(part, role, context), part, callMetadata)
    context.origin?.(promptPart, part)
    promptParts.push(promptPart)
  }
  // Without it, the conversation could begin with an answer, which Anthropic rejects.
  if (promptParts.length === 0 && role === 'user' && rejectsBlank(context.model))
    return [{ type: 'text', text: '(empty message)' }]
  return promptParts
}

function toPart(part: Part, role: Message['role'], context: PromptContext): PromptPart {
  const partLocation = `${role}:${part.type}`
  switch (part.type) {
    case 'text':
      if (role !== 'tool') return { type: 'text', text: part.text }
      break
    case 'image':
    case 'file':
      if (role !== 'tool') return toFile(part, context)
      break
    case 'reasoning':
      if (role === 'assistant') return { type: 'reasoning', text: part.text }
      break
    case 'tool-call':
      if (role === 'assistant') return toToolCall(part, context)
      break
    case 'custom':
      if (role === 'assistant') return { type: 'custom', kind: part.kind }
      break
    case 'tool-result': {
      const named = { type: 'tool-result', toolCallId: part.callId, toolName: part.name }
      if (role === 'tool') return { ...named, output: toolOutput(part, context) }
      if (role === 'assistant') return { ...named, output: executedOutput(part) }
    }
  }
  throw new AlliumError(
    'message.invalid',
    `A message of the role "${role}" cannot hold a part of the type "${part.type}".`,
    { details: { place: partLocation } },
  )
}

function toFile(given: ImagePart | FilePart, { model, dialect, urls, media }: PromptContext): PromptPart {
  const part = media?.message(given) ?? given
  if (part.type === 'text') return { type: 'text', text: part.text }
  const file = fileContent(part)
  if ('url' in file && !acceptsUrl(urls, file.url, file.mediaType))
    throw unsupported(
      model,
      `does not fetch ${file.url.protocol}//${file.url.host} for ${file.mediaType}. Pass the bytes instead of the URL.`,
    )
  const type = part.type === 'file' && part.reasoning === true && dialect.custom ? 'reasoning-file' : 'file'
  const promptPart: PromptPart = { type, mediaType: file.mediaType, data: dialect.fileData(file) }
  if (file.filename !== undefined) promptPart.filename = file.filename
  return promptPart
}

function toToolCall(
  { callId, name, args, providerExecuted, approvalRequest }: Extract<Part, { type: 'tool-call' }>,
  { tools, origin }: PromptContext,
): PromptPart {
  const input = tools.takesText(name) && typeof args.input === 'string' ? args.input : args
  const call: PromptPart = { type: 'tool-call', toolCallId: callId, toolName: name, input }
  if (providerExecuted === true || approvalRequest !== undefined) call.providerExecuted = true
  if (approvalRequest !== undefined && origin !== undefined) call.approvalRequest = approvalRequest
  return call
}

/** Adds a provider's metadata as options to a new prompt part. Metadata of a call is also sent with its result. */
function withOptions(promptPart: PromptPart, part: Part, callMetadata?: CallMetadata): PromptPart {
  const { providerMetadata } = part
  if (part.type === 'tool-call' && providerMetadata !== undefined) callMetadata?.set(part.callId, providerMetadata)
  const given = part.type === 'tool-result' ? (providerMetadata ?? callMetadata?.get(part.callId)) : providerMetadata
  if (given !== undefined) promptPart.providerOptions = given
  return promptPart
}

function isEmittable(part: Part, { dialect, model }: PromptContext): boolean {
  if (part.type === 'custom') return dialect.custom
  if (part.type === 'text' && isBlank(part.text) && rejectsBlank(model)) return false
  return part.type !== 'text' || part.text !== '' || part.providerMetadata !== undefined
}

/** A provider's call without a real result. Anthropic rejects only the call; others require it. */
function isUnanswered(part: Part, unanswered: ReadonlySet<string> | undefined, { model }: PromptContext): boolean {
  if (part.type === 'tool-result') return part.missing === true
  return part.type === 'tool-call' && unanswered?.has(part.callId) === true && model.provider.includes('anthropic')
}
