import {
  AlliumError,
  type ContentChunk,
  type ProviderApprovalRequest,
  type ProviderMetadata,
  type ToolInputEnd,
  type ToolInputStart,
} from '@allium/core'
import { equalJson, isRecord } from '@allium/core/internal'
import type { ProviderTools } from './provider-tools.ts'

export interface InputStartPart {
  id: string
  toolName: string
  inputEncoding?: 'json' | 'text'
  providerExecuted?: boolean
  providerMetadata?: ProviderMetadata
}
export interface ToolCallPart {
  toolCallId: string
  toolName: string
  input: unknown
  providerExecuted?: boolean
  /** The tool is not in the request, such as a tool of an MCP server. */
  dynamic?: boolean
  providerMetadata?: ProviderMetadata
}

interface OpenInput {
  name: string
  json: string
  /** The deltas are not JSON, so only the whole call has the arguments. */
  opaque: boolean
  providerExecuted: boolean
  call?: ToolCallPart
}

/**
 * Tool calls, which providers send twice: as input deltas, and then whole. Each becomes one start, its deltas and one
 * end. The end waits for the whole call, which has the metadata and, if there were no deltas, the arguments.
 */
export class ToolInputs {
  readonly #inputs = new Map<string, OpenInput>()

  constructor(readonly tools: ProviderTools) {}

  start({ id, toolName, inputEncoding, providerExecuted, providerMetadata }: InputStartPart): ContentChunk[] {
    const open = this.#inputs.get(id)
    // Some packages start a call twice.
    if (open !== undefined && open.name === toolName && open.call === undefined) return []
    if (open !== undefined) throw duplicateId(id)
    const opaque = inputEncoding === 'text' || this.tools.takesText(toolName)
    this.#inputs.set(id, { name: toolName, json: '', opaque, providerExecuted: providerExecuted === true })
    const start: ToolInputStart = { type: 'tool-input-start', callId: id, name: toolName }
    if (providerExecuted === true) start.providerExecuted = true
    if (providerMetadata !== undefined) start.providerMetadata = providerMetadata
    return [start]
  }

  delta(id: string, delta: string): ContentChunk[] {
    const input = this.#inputs.get(id)
    if (input === undefined || input.opaque || input.call !== undefined || delta === '') return []
    input.json += delta
    return [{ type: 'tool-input-delta', callId: id, delta }]
  }

  call(call: ToolCallPart): ContentChunk[] {
    const { toolCallId: id, toolName, providerExecuted, providerMetadata } = call
    const chunks = this.#inputs.has(id) ? [] : this.start({ ...call, id })
    const input = this.#inputs.get(id) as OpenInput
    if (input.call !== undefined) {
      if (sameCall(input.call, call)) return []
      throw duplicateId(id)
    }
    const isForeign = providerExecuted === true || this.tools.has(toolName)
    chunks.push(...this.delta(id, missingInput(id, input, completeJson(call, isForeign))))
    input.call = call
    const end: ToolInputEnd = { type: 'tool-input-end', callId: id }
    if (providerExecuted === true && !input.providerExecuted) end.providerExecuted = true
    if (providerMetadata !== undefined) end.providerMetadata = providerMetadata
    return [...chunks, end]
  }

  /** Returns the chunks of a call that the provider runs only after approval. It must not have begun before. */
  approvalChunks(call: ToolCallPart, approvalRequest: ProviderApprovalRequest): ContentChunk[] {
    const [start, ...rest] = this.call(call)
    const { providerExecuted: _, ...startFields } = start as ToolInputStart
    return [{ ...startFields, approvalRequest }, ...rest]
  }

  has(id: string): boolean {
    return this.#inputs.has(id)
  }

  get size(): number {
    return this.#inputs.size
  }

  /**
   * Ends the inputs without a whole call. Empty arguments are made unparsable, so that no tool runs without the arguments that it needs.
   *
   * @param mayBeEmpty whether the provider said that the calls are complete, or core rejects the last one because it reached the
   * maximum length
   */
  close(mayBeEmpty: boolean): ContentChunk[] {
    const open = [...this.#inputs].filter(([, { call }]) => call === undefined)
    return open.flatMap(([callId, { json, opaque }]): ContentChunk[] => {
      const end: ContentChunk = { type: 'tool-input-end', callId }
      if (mayBeEmpty && !opaque) return [end]
      return json.trim() === '' ? [{ type: 'tool-input-delta', callId, delta: '{' }, end] : [end]
    })
  }
}

/** Returns the arguments as an object. A text or another value for a provider's own tool becomes its `input`. */
function completeJson({ input }: ToolCallPart, isForeign: boolean): string {
  const json = typeof input === 'string' ? input : JSON.stringify(input ?? {})
  if (!isForeign || json.trim() === '') return json
  const value = parseInput(json)
  return isRecord(value) ? json : JSON.stringify({ input: value })
}

/** Returns the part of the whole call's arguments that the deltas did not contain. */
function missingInput(id: string, input: OpenInput, json: string): string {
  input.opaque = false
  if (json.startsWith(input.json)) return json.slice(input.json.length)
  // OpenRouter's package replaces arguments that are no JSON, such as cut ones.
  const isReplaced = json === '{}' && parseInput(input.json) === input.json
  // By value, because the key order may differ between the whole call and the deltas.
  if (isReplaced || equalJson(parseInput(json), parseInput(input.json))) return ''
  throw new AlliumError(
    'model.protocol',
    `The provider streamed arguments for the tool call "${id}" that differ from the final ones.`,
  )
}

/** Parses a JSON text, or returns the text itself. */
function parseInput(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

function sameCall(a: ToolCallPart, b: ToolCallPart): boolean {
  return a.toolName === b.toolName && JSON.stringify(a.input) === JSON.stringify(b.input)
}

function duplicateId(id: string): AlliumError {
  return new AlliumError(
    'model.protocol',
    `The provider used the tool call id "${id}" for two calls. Ids must be unique, so neither call can run.`,
  )
}
