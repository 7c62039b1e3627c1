import type { FileChunk, PendingCall, SourceChunk, StreamEvent, ToolEnd, TurnEnd } from '@allium/core'
import type { RunError } from '@allium/store/event-log'
import type { RunEntry } from '../run/entry-reader.ts'
import { fileUrl, type UiChunk } from '../sessions/ui-messages.ts'
import { Blocks } from './blocks.ts'
import { SentSources, sourceChunk } from './sources.ts'
import { parseInput, providerExecutedField, steerChunk, toolOutput } from './ui-chunks.ts'

/** The major version of the AI SDK that reads the stream. 7 has `reset-step`. */
export type UiVersion = 6 | 7

export interface UiWriterOptions {
  /** The answer that the run continues has been written. The run adds to it. */
  readonly isContinuation: boolean
  /** The steering messages by id, with their text. @default reported without text */
  readonly steers?: ReadonlyMap<string, UiChunk> | undefined
}

/** Writes the events of a run as a UI message stream of the AI SDK. Leaves out events of sub-agents and layers. */
export class UiWriter {
  /** No further events are written. */
  done = false
  readonly #version: UiVersion
  readonly #isContinuation: boolean
  readonly #blocks = new Blocks()
  readonly #sentSources = new SentSources()
  /** The JSON text of each call of this run. */
  readonly #inputs = new Map<string, { name: string; text: string; client: true | undefined }>()
  /** A resumed run begins in the step that the page already has. */
  #resumed = false
  /** The answer to a repeated request has no start, and all its calls are new to the page. */
  #hasStarted = false
  #hasNoText = true
  #reason: string | undefined
  #sources = 0
  /** The decided calls that the run begins with. */
  #decidedCalls: readonly string[] = []
  /** The suspended calls, including those whose sub-agent has a suspended call. */
  readonly #suspended: string[] = []

  readonly #steers: ReadonlyMap<string, UiChunk>

  constructor(version: UiVersion, { isContinuation, steers = new Map() }: UiWriterOptions) {
    this.#version = version
    this.#isContinuation = isContinuation
    this.#steers = steers
  }

  *write({ event, pending = [], client, decided }: RunEntry): Generator<UiChunk> {
    if (decided !== undefined) this.#decidedCalls = decided
    if ('path' in event && event.path !== undefined) yield* this.#nestedEvent(event as StreamEvent)
    else yield* this.#event(event as StreamEvent | RunError, pending, client)
  }

  *#event(event: StreamEvent | RunError, pending: readonly PendingCall[], client?: true): Generator<UiChunk> {
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
      this.#hasNoText &&= event.type !== 'text-delta'
      return yield* this.#blocks.delta(event.type === 'text-delta' ? 'text' : 'reasoning', event.id, event.delta)
    }
    if (event.type === 'model:reset') return yield* this.#reset()
    // A text continues after a source, and its citations come after its last delta.
    if (event.type === 'source') return yield* this.#source(event)
    yield* this.#blocks.close()
    switch (event.type) {
      case 'turn:start':
        this.#hasStarted = true
        this.#resumed = event.resumes !== undefined
        if (!this.#isContinuation) yield this.#resumed ? { type: 'start' } : { type: 'start', messageId: event.turnId }
        return
      case 'step:start':
        if (!this.#resumed) yield { type: 'start-step' }
        this.#resumed = false
        return
      case 'step:end':
        return yield { type: 'finish-step' }
      case 'tool-input-start':
        this.#inputs.set(event.callId, { name: event.name, text: '', client })
        return yield {
          type: event.type,
          toolCallId: event.callId,
          toolName: event.name,
          ...providerExecutedField(event),
        }
      case 'tool-input-delta':
        return yield* this.#inputDelta(event.callId, event.delta)
      case 'tool-input-end':
        return yield* this.#inputEnd(event.callId, providerExecutedField(event))
      case 'tool-result':
        return yield { ...toolOutput(event.callId, event.content, event.isError === true), providerExecuted: true }
      case 'tool:end':
        return yield* this.#toolEnd(event)
      case 'file':
        return yield { type: 'file', mediaType: event.mediaType, url: fileUrl(event as FileChunk) }
      case 'finish':
        this.#reason = event.reason
        return
      case 'steer:delivered':
        return yield this.#steers.get(event.id) ?? steerChunk(event.id, { delivered: true })
      case 'steer:rejected':
        return yield steerChunk(event.id, { delivered: false, reason: event.reason })
      case 'run:error':
        return yield { type: 'error', errorText: event.message }
      case 'turn:end':
        return yield* this.#end(event, pending)
    }
  }

  *#inputDelta(callId: string, delta: string): Generator<UiChunk> {
    const input = this.#inputs.get(callId)
    if (input !== undefined) input.text += delta
    yield { type: 'tool-input-delta', toolCallId: callId, inputTextDelta: delta }
  }

  *#inputEnd(callId: string, extra: object): Generator<UiChunk> {
    const { name = '', text = '', client } = this.#inputs.get(callId) ?? {}
    // The page runs the call as soon as it has the input, so the input is sent after the layers have let the call pass.
    if (client === true) return
    yield { type: 'tool-input-available', toolCallId: callId, toolName: name, input: parseInput(text), ...extra }
  }

  *#toolEnd({ callId, status, content, isError }: ToolEnd): Generator<UiChunk> {
    if (status === 'suspended') return void this.#suspended.push(callId)
    const decided = !this.#inputs.has(callId)
    if (status === 'denied' && decided) yield { type: 'tool-output-denied', toolCallId: callId }
    else yield toolOutput(callId, content, isError)
  }

  /** Of a sub-agent's events, writes only the outcome of calls whose approval the page showed. */
  *#nestedEvent(event: StreamEvent): Generator<UiChunk> {
    if (event.type !== 'tool:end' || event.status === 'suspended') return
    const [callId, ...extra] = this.#decidedCalls.filter((id) => id.endsWith(`/${event.callId}`))
    if (callId !== undefined && extra.length === 0) yield* this.#toolEnd({ ...event, callId })
  }

  /** Attaches a source to the text that it supports if the page supports citations. Else writes each source once. */
  *#source(chunk: SourceChunk): Generator<UiChunk> {
    const { cites, id = `source-${++this.#sources}` } = chunk
    const source = { ...chunk, id }
    if (cites !== undefined && this.#version === 7 && this.#blocks.cite(source, cites)) return
    if (this.#sentSources.isNew(source) || cites === undefined) yield sourceChunk(source)
  }

  /** Version 6 cannot express a reset, so its stream ends here. After a reload the page shows the stored messages. */
  *#reset(): Generator<UiChunk> {
    this.#hasNoText = true
    if (this.#version === 6) {
      this.done = true
      return yield { type: 'error', errorText: 'The answer was restarted. Reload to see it.' }
    }
    this.#blocks.discard()
    this.#inputs.clear()
    yield { type: 'reset-step' }
  }

  *#end({ status, reason }: TurnEnd, pending: readonly PendingCall[]): Generator<UiChunk> {
    yield* this.#suspendedOutputs(pending)
    for (const call of pending) yield* this.#approvalRequest(call)
    if (status === 'aborted') return yield { type: 'abort', ...(reason !== undefined && { reason }) }
    if (status === 'failed') return
    if (status === 'blocked' && this.#hasNoText)
      yield { type: 'error', errorText: reason ?? 'The request was refused.' }
    yield { type: 'finish', finishReason: status === 'suspended' ? 'tool-calls' : (this.#reason ?? 'other') }
  }

  /** Gives a call whose sub-agent is suspended a placeholder output: a page sends no decision while a call has none. */
  *#suspendedOutputs(pending: readonly PendingCall[]): Generator<UiChunk> {
    for (const callId of this.#suspended)
      if (!pending.some((call) => call.callId === callId)) yield toolOutput(callId, 'Waits for a decision.', false)
  }

  /** Sends the arguments that will run, and the request for approval. A call of a sub-agent is new to the page. */
  *#approvalRequest({
    callId: toolCallId,
    name: toolName,
    args: input,
    token,
    path,
    client,
  }: PendingCall): Generator<UiChunk> {
    if (this.#inputs.has(toolCallId) || path !== undefined || client === true || !this.#hasStarted)
      yield { type: 'tool-input-available', toolCallId, toolName, input }
    if (client === true) return
    yield { type: 'tool-approval-request', toolCallId, approvalId: token ?? toolCallId }
  }
}
