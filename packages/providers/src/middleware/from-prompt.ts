import {
  AlliumError,
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
  type ProviderApprovalRequest,
  type ProviderMetadata,
  type ToolCallPart,
} from '@allium/core'
import { isRecord } from '@allium/core/internal'
import type { PromptPart } from '../prompt-context.ts'
import type { Origins } from './origins.ts'

/** Converts a prompt in the AI SDK's form to messages. Unchanged messages become the original objects. */
export function fromPrompt(prompt: readonly PromptPart[], origins: Origins, layer: string): Message[] {
  return prompt.flatMap(
    (promptPart) => (origins.of(promptPart) as Message[] | undefined) ?? [toMessage(promptPart, origins, layer)],
  )
}

function toMessage(promptPart: PromptPart, origins: Origins, layer: string): Message {
  const { role, content } = promptPart
  if (role === 'system') return { role, content: toSystem(promptPart) }
  if (
    (role !== 'user' && role !== 'assistant' && role !== 'tool') ||
    !(typeof content === 'string' || Array.isArray(content))
  )
    throw unreadablePrompt(layer, `a message of the role ${JSON.stringify(role)}`)
  if (typeof content === 'string') return { role, content }
  const parts = (content as PromptPart[]).filter(
    ({ type, toolCallId }) => type !== 'tool-approval-response' || toolCallId !== undefined,
  )
  return { role, content: parts.map((part) => (origins.of(part)?.[0] as Part | undefined) ?? toPart(part, layer)) }
}

function toSystem({ content, providerOptions }: PromptPart): string | Part[] {
  const text = String(content)
  if (providerOptions === undefined) return text
  return [{ type: 'text', text, providerMetadata: providerOptions as ProviderMetadata }]
}

function toPart(promptPart: PromptPart, layer: string): Part {
  const part = toPlainPart(promptPart, layer)
  if (promptPart.providerOptions !== undefined) part.providerMetadata = promptPart.providerOptions as ProviderMetadata
  return part
}

function toPlainPart(promptPart: PromptPart, layer: string): Part {
  const { type, text, toolCallId: callId, toolName: name, kind } = promptPart
  if ((type === 'text' || type === 'reasoning') && typeof text === 'string') return { type, text }
  if (type === 'file' || type === 'reasoning-file') return toFile(promptPart)
  if (type === 'custom' && typeof kind === 'string') return { type, kind }
  if (typeof callId === 'string' && typeof name === 'string') {
    if (type === 'tool-call')
      return {
        type,
        callId,
        name,
        args: toArgs(promptPart.input),
        ...callFlags(promptPart),
      }
    if (type === 'tool-approval-response')
      return { type: 'tool-result', callId, name, content: '', approved: promptPart.approved === true }
    if (type === 'tool-result') return { type, callId, name, ...toOutput(promptPart.output as PromptPart) }
  }
  throw unreadablePrompt(layer, `a part of the type ${JSON.stringify(type)}`)
}

function callFlags({ approvalRequest, providerExecuted }: PromptPart): Partial<ToolCallPart> {
  if (approvalRequest !== undefined) return { approvalRequest: approvalRequest as ProviderApprovalRequest }
  return providerExecuted === true ? { providerExecuted } : {}
}

function toArgs(input: unknown): Record<string, unknown> {
  return isRecord(input) ? input : { input }
}

function toFile({ type, data, mediaType, filename }: PromptPart): ImagePart | FilePart {
  const boxed = data as { type?: string; data?: unknown; url?: unknown }
  const raw = (boxed?.type === 'data' ? boxed.data : boxed?.type === 'url' ? boxed.url : data) as FilePart['data']
  const media = String(mediaType)
  if (type === 'reasoning-file') return { type: 'file', data: raw, mediaType: media, reasoning: true }
  if (media.startsWith('image/') && filename === undefined) return { type: 'image', data: raw, mediaType: media }
  return { type: 'file', data: raw, mediaType: media, ...(typeof filename === 'string' && { filename }) }
}

function toOutput({ type, value, reason }: PromptPart): { content: string | Part[]; isError?: true; json?: true } {
  const isError = type === 'error-text' || type === 'error-json' || type === 'execution-denied'
  const error = isError ? { isError: true as const } : {}
  if (type === 'execution-denied') return { content: typeof reason === 'string' ? reason : 'Denied.', ...error }
  if (type === 'content') return { content: (value as PromptPart[]).map(toResultPart) }
  if (typeof value === 'string' && type !== 'json') return { content: value, ...error }
  return { content: JSON.stringify(value) ?? '', json: true, ...error }
}

function toResultPart(promptPart: PromptPart): Part {
  if (promptPart.type === 'text') return { type: 'text', text: String(promptPart.text) }
  const { mediaType = 'image/*', url } = promptPart
  return toFile({ ...promptPart, mediaType, data: url === undefined ? promptPart.data : new URL(String(url)) })
}

function unreadablePrompt(layer: string, problem: string): AlliumError {
  return new AlliumError(
    'layer.result',
    `Layer "${layer}" (model) returned a prompt with ${problem}, which no message can hold. Return messages of the AI SDK.`,
    { details: { layer, scope: 'model' } },
  )
}
