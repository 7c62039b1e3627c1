import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { checkOptions, keysOf } from '../errors/known-options.ts'
import { equalJson, isOpaque } from '../messages/json.ts'
import { type Message, type Part, type ProviderMetadata, type ToolCallPart, textOf } from '../messages/message.ts'
import { cleanUsage, type Usage } from '../messages/usage.ts'
import type { FinishChunk, FinishReason, ModelWarning } from './chunk.ts'

/** A call as the model sent it. If the provider requires an approval, no tool of the agent runs for it. */
export interface ToolCall extends Omit<ToolCallPart, 'type' | 'providerMetadata'> {
  /** Why the argument text is not a JSON object; `args` is then `{}`. */
  invalid?: string
}

/** The response of one model call. */
export interface ModelResponse {
  text: string
  reasoning?: string
  toolCalls: ToolCall[]
  finishReason: FinishReason
  usage: Usage
  /** The id of the model that answered. */
  model: string
  /** The provider's original finish reason. */
  rawFinishReason?: string
  /** The provider paused the answer and continues it in another step, which sends the answer so far. */
  paused?: boolean
  /** The provider's id of the answer. */
  responseId?: string
  /** The provider's metadata of the whole answer, such as its cost, grounding or container. */
  providerMetadata?: ProviderMetadata
  /** Parts of the request that the provider, or its package, could not follow. */
  warnings?: ModelWarning[]
  /** The message for the history. If a layer changes `text` or `toolCalls`, these take precedence. */
  message: Message
}

/** Copies the optional fields of a finish chunk to a response. */
export function addFinish(response: ModelResponse, finish: FinishChunk): void {
  const { rawReason, paused, responseId, providerMetadata, warnings } = finish
  if (rawReason !== undefined) response.rawFinishReason = rawReason
  if (paused === true) response.paused = true
  if (responseId !== undefined) response.responseId = responseId
  if (providerMetadata !== undefined) response.providerMetadata = providerMetadata
  if (warnings !== undefined && warnings.length > 0) response.warnings = warnings
}

/** Details of a run's model calls. */
export interface AnswerDetails {
  /** Of the last model call: its finish reason, also as the provider's original value, and the provider's id of the answer. */
  finishReason?: FinishReason
  rawFinishReason?: string
  responseId?: string
  /** The provider's metadata of the whole last answer, such as its cost, grounding or container. */
  providerMetadata?: ProviderMetadata
  /** Warnings of the run's model calls, without duplicates. */
  warnings?: readonly ModelWarning[]
}

/** Returns the finish chunk of a response. */
export function finishOf(response: ModelResponse): FinishChunk {
  const finish: FinishChunk = { type: 'finish', reason: response.finishReason, usage: response.usage }
  copyDetails(finish, response)
  return finish
}

/** Copies the optional fields of a response to its finish chunk, or to an event. */
export function copyDetails(to: Omit<FinishChunk, 'type' | 'reason' | 'usage'>, from: ModelResponse): void {
  const { rawFinishReason, paused, responseId, providerMetadata, warnings } = from
  if (rawFinishReason !== undefined) to.rawReason = rawFinishReason
  if (paused === true) to.paused = true
  if (responseId !== undefined) to.responseId = responseId
  if (providerMetadata !== undefined) to.providerMetadata = providerMetadata
  if (warnings !== undefined) to.warnings = warnings
}

/** Whether another model call follows in the turn, unless something ends it. Layers must then release this answer first. */
export function needsNextCall({ toolCalls, paused }: ModelResponse): boolean {
  return toolCalls.length > 0 || paused === true
}

/** A response that a layer may return: a text, or the fields that differ from an empty answer. */
export type ResponseInput =
  | string
  | (Partial<Omit<ModelResponse, 'usage' | 'toolCalls'>> & { usage?: Partial<Usage>; toolCalls?: readonly ToolCall[] })

const ofResponse = /* @__PURE__ */ keysOf<ModelResponse>()(
  'text reasoning toolCalls finishReason usage model rawFinishReason paused responseId providerMetadata warnings message',
)

/** Completes a layer's response. Returns the same object if it is already complete. */
export function toResponse(given: unknown, layer: string, model: string): ModelResponse {
  if (typeof given === 'string') return toResponse({ text: given }, layer, model)
  if (typeof given !== 'object' || given === null || (!('text' in given) && isOpaque(given)))
    throw notResponse(layer, describe(given))
  const { text = '', toolCalls = [], finishReason, usage, reasoning, message } = given as Partial<ModelResponse>
  if (typeof text !== 'string') throw notResponse(layer, `an object whose text is ${describe(text)}`)
  if (!Array.isArray(toolCalls) || !toolCalls.every(isToolCall))
    throw notResponse(layer, 'an object whose toolCalls are not { callId, name, args }')
  if (isWhole(given as Partial<ModelResponse>)) return given as ModelResponse
  checkOptions(given, ofResponse, `The response of the layer "${layer}"`, 'layer.result')
  const response: ModelResponse = {
    text,
    toolCalls,
    finishReason: finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop'),
    usage: cleanUsage(usage, usage?.calls ?? 0),
    model: (given as Partial<ModelResponse>).model ?? model,
    message: message ?? { role: 'assistant', content: text },
  }
  if (reasoning !== undefined) response.reasoning = reasoning
  return response
}

/** Returns the message for the history: the response's own if it matches, else one rebuilt from `text` and `toolCalls`. */
export function responseMessage({ text, toolCalls, message }: ModelResponse): Message {
  return textOf(message) === text && hasCalls(message, toolCalls) ? message : rebuilt(message, text, toolCalls)
}

function rebuilt(message: Message, text: string, toolCalls: readonly ToolCall[]): Message {
  const before = typeof message.content === 'string' ? [] : message.content
  const keepsText = textOf(message) === text
  const called = new Set(before.map((part) => (part.type === 'tool-call' ? part.callId : undefined)))
  const content: Part[] = before.filter(
    (part) =>
      part.type === 'reasoning' ||
      part.type === 'file' ||
      part.type === 'custom' ||
      // The result of a call in an earlier answer.
      (part.type === 'tool-result' && !called.has(part.callId)) ||
      (keepsText && part.type === 'text'),
  )
  if (text !== '' && (!keepsText || before.length === 0)) content.push({ type: 'text', text })
  for (const { callId, name, args, providerExecuted, approvalRequest } of toolCalls) {
    const old = before.find((part): part is ToolCallPart => part.type === 'tool-call' && part.callId === callId)
    const { approvalRequest: _, ...rest } = old ?? {}
    content.push({
      ...rest,
      type: 'tool-call',
      callId,
      name,
      args,
      ...ofProvider({ providerExecuted, approvalRequest }),
    })
    if (providerExecuted === true)
      content.push(...before.filter((part) => part.type === 'tool-result' && part.callId === callId))
  }
  const only = content.length === 1 ? content[0] : undefined
  const plain = content.length === 0 || (only?.type === 'text' && only.providerMetadata === undefined)
  return { ...message, role: 'assistant', content: plain ? text : content }
}

type OfProvider = Pick<ToolCallPart, 'providerExecuted' | 'approvalRequest' | 'providerMetadata'>

/** Returns the fields of a call that only some providers set. */
export function ofProvider(call: { [K in keyof OfProvider]: OfProvider[K] | undefined }): OfProvider {
  const { providerExecuted, approvalRequest, providerMetadata } = call
  const fields: OfProvider = {}
  if (providerExecuted === true) fields.providerExecuted = true
  if (approvalRequest !== undefined) fields.approvalRequest = approvalRequest
  if (providerMetadata !== undefined) fields.providerMetadata = providerMetadata
  return fields
}

function hasCalls({ content }: Message, toolCalls: readonly ToolCall[]): boolean {
  let at = 0
  if (typeof content !== 'string')
    for (const part of content) if (part.type === 'tool-call' && !sameCall(part, toolCalls[at++])) return false
  return at === toolCalls.length
}

/** Compares two calls by id, name, arguments and the provider's approval request. */
export function sameCall(a: CallValue, b: CallValue | undefined): boolean {
  if (b === undefined || a.callId !== b.callId || a.name !== b.name) return false
  return equalJson(a.args, b.args) && equalJson(a.approvalRequest, b.approvalRequest)
}
type CallValue = Pick<ToolCall, 'callId' | 'name' | 'args' | 'approvalRequest'>

function isToolCall(value: unknown): value is ToolCall {
  if (typeof value !== 'object' || value === null) return false
  const { callId, name, args } = value as Partial<ToolCall>
  return typeof callId === 'string' && typeof name === 'string' && typeof args === 'object' && args !== null
}

function isWhole({ text, toolCalls, finishReason, usage, model, message }: Partial<ModelResponse>): boolean {
  const required = [text, toolCalls, finishReason, model, message]
  return typeof usage?.calls === 'number' && required.every((one) => one !== undefined)
}

function notResponse(layer: string, what: string): AlliumError {
  return new AlliumError(
    'layer.result',
    `Layer "${layer}" (model) returned ${what} as its response. Return the result of next(), a string, or { text, toolCalls }.`,
    { details: { layer, scope: 'model' } },
  )
}
