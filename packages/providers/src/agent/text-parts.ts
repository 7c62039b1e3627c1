import type { FileChunk, PendingCall, SourceChunk, StreamEvent, ToolEnd, TurnEnd, Usage } from '@allium/core'
import { base64Of, resultText } from '@allium/core/internal'
import { type CitationPart, citationOf, Sources } from './citations.ts'
import { approvalIdOf } from './client-decisions.ts'

/** A part of a stream of `streamText`, by shape: `TextStreamPart` of `ai` 6 and 7. */
export type TextPart = { type: string; [field: string]: unknown }

/** Converts the events of a run to the parts that `streamText` would stream. Events of sub-agents and layers are left out. */
export class TextParts {
  /** The open block of text or reasoning. A delta of another block closes it. */
  #open: { kind: 'text' | 'reasoning'; of: string | undefined; id: string; citations: CitationPart[] } | undefined
  readonly #inputs = new Map<string, { toolName: string; text: string }>()
  /** A run that resumes after a decision begins inside the existing step. */
  #resumed = false
  #hasNoText = true
  #reason = 'other'
  #count = 0
  /** Calls that wait, or whose sub-agent has a waiting call. */
  readonly #suspended: ToolEnd[] = []
  readonly #decidedCalls: readonly PendingCall[]
  readonly #sources = new Sources()

  /** The names of the tools that the page runs. */
  readonly #clientToolNames: ReadonlySet<string>

  /** @param decided the calls whose decisions begin the run @param clientTools the tools that the page runs */
  constructor(decided: readonly PendingCall[] = [], clientTools: readonly { name: string }[] = []) {
    this.#decidedCalls = decided
    this.#clientToolNames = new Set(clientTools.map(({ name }) => name))
  }

  *of(event: StreamEvent): Generator<TextPart> {
    if ('path' in event && event.path !== undefined) return yield* this.#subAgentEvent(event)
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') return yield* this.#delta(event)
    // A text continues after a source, and its citations follow its last delta.
    if (event.type === 'source') return yield* this.#source(event)
    yield* this.#close()
    switch (event.type) {
      case 'turn:start':
        this.#resumed = event.resumes !== undefined
        return yield { type: 'start' }
      case 'step:start':
        if (!this.#resumed) yield { type: 'start-step', request: {}, warnings: [] }
        this.#resumed = false
        return
      case 'step:end':
        return yield { type: 'finish-step', finishReason: this.#reason, usage: {}, response: {} }
      case 'tool-input-start':
        this.#inputs.set(event.callId, { toolName: event.name, text: '' })
        return yield { type: event.type, id: event.callId, toolName: event.name, ...executedField(event) }
      case 'tool-input-delta':
        return yield* this.#inputDelta(event.callId, event.delta)
      case 'tool-input-end':
        yield { type: event.type, id: event.callId }
        // The page runs the call as soon as it has the input, so the input is sent only after the layers have let the call pass.
        if (this.#clientToolNames.has(this.#inputs.get(event.callId)?.toolName ?? '')) return
        return yield { ...this.#call(event.callId), ...executedField(event) }
      case 'tool-result': {
        const { content, isError } = event
        const text = resultText(content)
        return yield { ...this.#output(event.callId, event.name, text, isError === true), providerExecuted: true }
      }
      case 'tool:end':
        return yield* this.#toolEnd(event)
      case 'file':
        return yield { type: 'file', file: fileOf(event) }
      case 'finish':
        this.#reason = event.reason
        return
      case 'turn:end':
        return yield* this.#end(event)
    }
  }

  *#delta({
    type,
    id: of,
    delta,
  }: Extract<StreamEvent, { delta: string; type: 'text-delta' | 'reasoning-delta' }>): Generator<TextPart> {
    const kind = type === 'text-delta' ? 'text' : 'reasoning'
    this.#hasNoText &&= kind !== 'text'
    if (this.#open?.kind !== kind || this.#open.of !== of) {
      yield* this.#close()
      this.#open = { kind, of, id: `${kind}-${++this.#count}`, citations: [] }
      yield { type: `${kind}-start`, id: this.#open.id }
    }
    yield { type, id: this.#open.id, text: delta }
  }

  *#close(): Generator<TextPart> {
    if (this.#open === undefined) return
    const { kind, id, citations } = this.#open
    this.#open = undefined
    yield { type: `${kind}-end`, id, ...(citations.length > 0 && { citations }) }
  }

  *#inputDelta(callId: string, delta: string): Generator<TextPart> {
    const input = this.#inputs.get(callId)
    if (input !== undefined) input.text += delta
    yield { type: 'tool-input-delta', id: callId, delta }
  }

  #call(callId: string): TextPart {
    const { toolName = '', text = '' } = this.#inputs.get(callId) ?? {}
    return { type: 'tool-call', toolCallId: callId, toolName, input: parseArgs(text) }
  }

  *#toolEnd(event: ToolEnd): Generator<TextPart> {
    const { callId, name, status, content, isError } = event
    if (status === 'suspended') {
      this.#suspended.push(event)
      return
    }
    const wasDecided = !this.#inputs.has(callId)
    if (status === 'denied' && wasDecided) yield { type: 'tool-output-denied', toolCallId: callId, toolName: name }
    else yield this.#output(callId, name, content, isError)
  }

  /** Emits the outcome of a sub-agent's call only for the cards that requested its approval. */
  *#subAgentEvent(event: StreamEvent): Generator<TextPart> {
    if (event.type !== 'tool:end' || event.status === 'suspended') return
    const inPath = this.#decidedCalls.filter(
      ({ callId, path }) => callId.endsWith(`/${event.callId}`) && path?.join('/') === event.path?.join('/'),
    )
    const [call] = inPath
    if (call !== undefined && inPath.length === 1) yield* this.#toolEnd({ ...event, callId: call.callId })
  }

  #output(toolCallId: string, toolName: string, text: string, isError: boolean): TextPart {
    const { input } = this.#call(toolCallId)
    if (isError) return { type: 'tool-error', toolCallId, toolName, input, error: text }
    return { type: 'tool-result', toolCallId, toolName, input, output: text }
  }

  /** A source that supports a passage belongs to the open text. If that text has ended, the source is emitted once by itself. */
  *#source(chunk: SourceChunk): Generator<TextPart> {
    const { cites } = chunk
    const source = this.#sources.part(chunk)
    if (cites === undefined) return yield this.#sources.standalone(source)
    if (this.#open?.kind === 'text' && this.#open.of === cites.textId)
      return void this.#open.citations.push(citationOf(source, cites))
    const first = this.#sources.firstTime(source)
    if (first !== undefined) yield first
  }

  *#end({ status, reason, pending = [], usage }: TurnEnd): Generator<TextPart> {
    yield* this.#pendingCalls(pending)
    if (status === 'aborted') return yield { type: 'abort', ...(reason !== undefined && { reason }) }
    if (status === 'failed') return
    if (status === 'blocked' && this.#hasNoText)
      yield { type: 'error', error: new Error(reason ?? 'The request was refused.') }
    const finishReason = status === 'suspended' ? 'tool-calls' : this.#reason
    yield { type: 'finish', finishReason, totalUsage: usageOf(usage) }
  }

  /** Gives a call whose sub-agent waits a temporary output, because a page sends no decision while a card has none. */
  *#pendingCalls(pending: readonly PendingCall[]): Generator<TextPart> {
    const pendingIds = new Set(pending.map(({ callId }) => callId))
    for (const { callId, name } of this.#suspended)
      if (!pendingIds.has(callId)) yield this.#output(callId, name, 'Waits for a decision.', false)
    for (const call of pending) yield* this.#approvalRequest(call)
  }

  /** Emits the call for the card that requests approval; a sub-agent's call gets its own card. */
  *#approvalRequest(call: PendingCall): Generator<TextPart> {
    const toolCall = { type: 'tool-call', toolCallId: call.callId, toolName: call.name, input: call.args }
    if (this.#inputs.has(call.callId) || call.path !== undefined || call.client === true) yield toolCall
    if (call.client === true) return
    yield { type: 'tool-approval-request', approvalId: approvalIdOf(call), toolCall }
  }
}

function usageOf({ inputTokens, outputTokens }: Usage): object {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
}

function executedField({ providerExecuted }: { providerExecuted?: boolean }): { providerExecuted?: true } {
  return providerExecuted === true ? { providerExecuted } : {}
}

/** A call with invalid JSON arguments runs with none, and its result reports that. */
function parseArgs(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return {}
  }
}

function fileOf({ data, mediaType }: FileChunk): object {
  const base64 = typeof data === 'string' ? data : data instanceof URL ? data.href : base64Of(data)
  return { mediaType, base64 }
}
