import type { Message, Part } from '../messages/message.ts'
import { modelId } from '../model/model.ts'
import { type ModelResponse, responseMessage, type ToolCall } from '../model/response.ts'
import { ModelCall } from '../rings/model/model-call.ts'
import { modelRing } from '../rings/model/ring.ts'
import type { Turn } from '../rings/turn/turn.ts'

/** A model call at its start: the stream begins a new answer. */
export function beginCall(turn: Turn): ModelCall {
  turn.answer.beginCall()
  const call = new ModelCall(turn, modelRing)
  const { session, turnId, stepIndex } = turn
  const { observers } = session.agent
  if (observers.has('model:start')) {
    const model = modelId(turn.options.model)
    const { callIndex } = call
    observers.emit('model:start', { type: 'model:start', sessionId: session.id, turnId, stepIndex, model, callIndex })
  }
  return call
}

/** The answer of a call: told, and put into the history. */
export function callEnded(call: ModelCall, response: ModelResponse): void {
  const { turn, callIndex } = call
  const { session, turnId, stepIndex } = turn
  const { observers } = session.agent
  const { finishReason, usage, model } = response
  turn.answer.finish({ type: 'finish', reason: finishReason, usage }, response.toolCalls.length > 0)
  if (observers.has('model:end')) {
    const sessionId = session.id
    const told = { ...usage }
    observers.emit('model:end', {
      type: 'model:end',
      sessionId,
      turnId,
      stepIndex,
      model,
      callIndex,
      finishReason,
      usage: told,
    })
  }
  commit(turn, response)
}

export function callFailed({ turn, callIndex, model }: ModelCall, error: unknown): void {
  const { observers } = turn.session.agent
  if (observers.has('model:end'))
    observers.emit('model:end', {
      type: 'model:end',
      ...turn.place,
      model,
      callIndex,
      error,
    })
}

function commit(turn: Turn, response: ModelResponse): void {
  const message = withProviderResults(responseMessage(response), response)
  const { session } = turn
  if (response.toolCalls.length > 0) for (const { callId } of response.toolCalls) session.callIds.add(callId)
  const empty = message.content.length === 0
  if (!empty) turn.view.commit(message)
  turn.answer.committed(response, empty ? undefined : session.history.items.length - 1, response.toolCalls.length > 0)
}

/** A call that the provider ran, but whose result it never sent, gets one: every call in the history has one. */
function withProviderResults(message: Message, { toolCalls }: ModelResponse): Message {
  const { content } = message
  if (typeof content === 'string' || !toolCalls.some(ranByProvider)) return message
  const ran = toolCalls.filter(ranByProvider)
  const answered = new Set(content.map((part) => (part.type === 'tool-result' ? part.callId : undefined)))
  const missing = ran
    .filter(({ callId }) => !answered.has(callId))
    .map(({ callId, name }): Part => ({ type: 'tool-result', callId, name, content: noResult, isError: true }))
  return missing.length === 0 ? message : { ...message, content: [...content, ...missing] }
}

function ranByProvider({ providerExecuted }: ToolCall): boolean {
  return providerExecuted === true
}

const noResult = 'The provider sent no result.'
