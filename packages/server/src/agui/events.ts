import type { Part, PendingCall, StreamEvent, Usage } from '@allium/core'
import { resultText } from '@allium/core/internal'
import type { RunError } from '@allium/store/event-log'
import type { FrameWriter } from '../response/stream.ts'
import { answerSchema } from './run-input.ts'

type AguiEvent = { type: string; [field: string]: unknown }

/** Writes a run as events of AG-UI 1.0: https://docs.ag-ui.com/concepts/events. Leaves out sub-agents and layers. */
export function aguiFrames(ids: { threadId: string; runId: string }): FrameWriter {
  const writer = new Writer(ids)
  const started = { type: 'RUN_STARTED', ...ids, protocolVersion: '1.0' }
  return {
    begin: () => [{ data: JSON.stringify(started) }],
    *write({ event, pending = [] }) {
      if ('path' in event && event.path !== undefined) return
      for (const aguiEvent of writer.write(event as StreamEvent | RunError, pending))
        yield { data: JSON.stringify(aguiEvent) }
    },
    *end() {
      if (!writer.done) yield { data: JSON.stringify(writer.cut()) }
    },
    isDone: () => writer.done,
  }
}

class Writer {
  done = false
  readonly #ids: { threadId: string; runId: string }
  /** The open text or reasoning message. */
  #open: { kind: 'TEXT' | 'REASONING'; messageId: string } | undefined
  #openStep: string | undefined
  /** The calls whose input is open. */
  readonly #openCalls = new Set<string>()
  #hasNoText = true
  /** Why the last step of the model ended. */
  #finishReason: string | undefined
  /** A repeated request gets the answer of its run, without the start of it. */
  #turnId: string = crypto.randomUUID()
  #messages = 0

  constructor(ids: { threadId: string; runId: string }) {
    this.#ids = ids
  }

  *write(event: StreamEvent | RunError, pending: readonly PendingCall[]): Generator<AguiEvent> {
    if (event.type === 'text-delta') return yield* this.#delta('TEXT', event.delta)
    if (event.type === 'reasoning-delta') return yield* this.#delta('REASONING', event.delta)
    if (event.type !== 'finish') yield* this.#close()
    switch (event.type) {
      case 'turn:start':
        this.#turnId = event.turnId
        return
      case 'step:start':
        this.#openStep = `step-${event.stepIndex}`
        return yield { type: 'STEP_STARTED', stepName: this.#openStep }
      case 'step:end':
        return yield* this.#closeStep()
      case 'finish':
        this.#finishReason = event.reason
        return
      case 'tool-input-start':
        this.#openCalls.add(event.callId)
        return yield { type: 'TOOL_CALL_START', toolCallId: event.callId, toolCallName: event.name }
      case 'tool-input-delta':
        if (event.delta !== '') yield { type: 'TOOL_CALL_ARGS', toolCallId: event.callId, delta: event.delta }
        return
      case 'tool-input-end':
        return yield this.#closeCall(event.callId)
      case 'tool-result':
        return yield this.#result(event.callId, event.content)
      case 'tool:end':
        if (event.status !== 'suspended') yield this.#result(event.callId, event.content)
        return
      case 'model:reset':
        return yield this.#error({ code: 'stream.reset', message: 'The answer was restarted. Send the request again.' })
      case 'run:error':
        return yield this.#error(event)
      case 'turn:end':
        return yield* this.#end(event, pending)
    }
  }

  *#delta(kind: 'TEXT' | 'REASONING', delta: string): Generator<AguiEvent> {
    if (delta === '') return
    this.#hasNoText &&= kind !== 'TEXT'
    if (this.#open?.kind !== kind) {
      yield* this.#close()
      const messageId = this.#messageId()
      this.#open = { kind, messageId }
      if (kind === 'REASONING') yield { type: 'REASONING_START', messageId }
      const role = kind === 'TEXT' ? 'assistant' : 'reasoning'
      yield { type: `${kind}_MESSAGE_START`, messageId, role }
    }
    yield { type: `${kind}_MESSAGE_CONTENT`, messageId: this.#open.messageId, delta }
  }

  *#close(): Generator<AguiEvent> {
    if (this.#open === undefined) return
    const { kind, messageId } = this.#open
    this.#open = undefined
    yield { type: `${kind}_MESSAGE_END`, messageId }
    if (kind === 'REASONING') yield { type: 'REASONING_END', messageId }
  }

  /** Ends the open step and calls. A client rejects the end of a run while one is open. */
  *#closeStep(): Generator<AguiEvent> {
    for (const callId of this.#openCalls) yield this.#closeCall(callId)
    if (this.#openStep !== undefined) yield { type: 'STEP_FINISHED', stepName: this.#openStep }
    this.#openStep = undefined
  }

  #closeCall(toolCallId: string): AguiEvent {
    this.#openCalls.delete(toolCallId)
    return { type: 'TOOL_CALL_END', toolCallId }
  }

  /** Returns the end of a stream that ends before its run. */
  cut(): AguiEvent {
    return this.#error({
      code: 'run.interrupted',
      message: 'The stream ended before the run. Load the messages of the session to see the rest.',
    })
  }

  #result(toolCallId: string, given: string | readonly Part[]): AguiEvent {
    const content = resultText(given)
    return { type: 'TOOL_CALL_RESULT', messageId: this.#messageId(), toolCallId, content, role: 'tool' }
  }

  #error({ code, message }: { code: string; message: string }): AguiEvent {
    this.done = true
    return { type: 'RUN_ERROR', code, message }
  }

  *#end(
    { status, reason, usage }: { status: string; reason?: string; usage: Usage },
    pending: readonly PendingCall[],
  ): Generator<AguiEvent> {
    // The error follows.
    if (status === 'failed') return
    if (status === 'blocked' && this.#hasNoText)
      return yield this.#error({ code: 'run.blocked', message: reason ?? 'The request was refused.' })
    yield* this.#closeStep()
    this.done = true
    // No outcome stands for an answer that was cut, for example at the token limit.
    const result = { status, reason, finishReason: this.#finishReason }
    yield { type: 'RUN_FINISHED', ...this.#ids, result, outcome: outcomeOf(status, pending), usage: [usageOf(usage)] }
  }

  #messageId(): string {
    return `${this.#turnId}-${++this.#messages}`
  }
}

function outcomeOf(status: string, pending: readonly PendingCall[]): object {
  if (status === 'aborted') return { type: 'cancelled' }
  // The client runs calls of its own tools without asking a person.
  const approvals = pending.filter(({ client }) => client !== true)
  return approvals.length > 0 ? { type: 'interrupt', interrupts: approvals.map(interruptOf) } : { type: 'success' }
}

/** Returns a pending call as an interrupt. Its metadata has the arguments that will run, which may differ from those of the model. */
function interruptOf(call: PendingCall): object {
  const { callId, token, name, args, request, expiresAt, path } = call
  return {
    id: token ?? callId,
    reason: 'tool_call',
    message: request?.reason ?? `The tool ${name} is waiting for approval.`,
    ...(path === undefined && { toolCallId: callId }),
    responseSchema: answerSchema(call),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { name, args },
  }
}

function usageOf({ inputTokens, outputTokens }: Usage): object {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
}
