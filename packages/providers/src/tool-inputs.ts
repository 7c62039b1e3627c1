import {
  AlliumError,
  type ContentChunk,
  type ProviderMetadata,
  type ToolInputEnd,
  type ToolInputStart,
} from '@allium/core'

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
  providerMetadata?: ProviderMetadata
}

interface OpenInput {
  json: string
  /** The deltas are not JSON: only the whole call tells the arguments. */
  opaque: boolean
  call?: ToolCallPart
}

/**
 * Tool calls, which providers tell twice: as input deltas, and then whole. Each becomes one start, its deltas and one
 * end; the end waits for the whole call, which brings the metadata and, if there were no deltas, the arguments.
 */
export class ToolInputs {
  readonly #inputs = new Map<string, OpenInput>()

  start({ id, toolName, inputEncoding, providerExecuted, providerMetadata }: InputStartPart): ContentChunk[] {
    if (this.#inputs.has(id)) throw repeated(id)
    this.#inputs.set(id, { json: '', opaque: inputEncoding === 'text' })
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
    const { toolCallId: id, providerMetadata } = call
    const chunks = this.#inputs.has(id) ? [] : this.start({ ...call, id })
    const input = this.#inputs.get(id) as OpenInput
    if (input.call !== undefined) {
      if (sameCall(input.call, call)) return []
      throw repeated(id)
    }
    chunks.push(...this.delta(id, missing(id, input, call)))
    input.call = call
    const end: ToolInputEnd = { type: 'tool-input-end', callId: id }
    if (providerMetadata !== undefined) end.providerMetadata = providerMetadata
    return [...chunks, end]
  }

  /** Ends the inputs that were never told whole, as when the answer reached its length. */
  close(): ContentChunk[] {
    return [...this.#inputs]
      .filter(([, input]) => input.call === undefined)
      .map(([callId]) => ({ type: 'tool-input-end', callId }))
  }
}

/** What of the whole call's arguments the deltas have not told. */
function missing(id: string, input: OpenInput, { input: whole }: ToolCallPart): string {
  const json = typeof whole === 'string' ? whole : JSON.stringify(whole ?? {})
  input.opaque = false
  if (json.startsWith(input.json)) return json.slice(input.json.length)
  if (canonical(json) === canonical(input.json)) return ''
  throw new AlliumError(
    'model.protocol',
    `The provider streamed other arguments for the tool call "${id}" than it told in the end.`,
  )
}

function canonical(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return json
  }
}

function sameCall(a: ToolCallPart, b: ToolCallPart): boolean {
  return a.toolName === b.toolName && JSON.stringify(a.input) === JSON.stringify(b.input)
}

function repeated(id: string): AlliumError {
  return new AlliumError(
    'model.protocol',
    `The provider used the tool call id "${id}" for two calls. Ids tell calls apart: none of them can run.`,
  )
}
