import { pass } from '../compose/frame.ts'
import { modelId } from '../model/model.ts'
import { type ModelResponse, responseMessage } from '../model/response.ts'
import { ModelCall } from '../scopes/model-call.ts'
import type { TurnScope } from '../scopes/turn-scope.ts'
import { callProvider } from './provider-call.ts'

/** One call of the model through its onion; the answer enters the history as it left the outermost layer. */
export async function modelStep(turn: TurnScope): Promise<ModelResponse> {
  turn.answer.beginCall()
  const call = new ModelCall(turn, callProvider)
  started(call)
  let response: ModelResponse
  try {
    response = await turn.answer.settle((await pass(call)) as ModelResponse)
  } catch (error) {
    ended(call, undefined, error)
    throw error
  }
  turn.answer.finish(
    { type: 'finish', reason: response.finishReason, usage: response.usage },
    response.toolCalls.length > 0,
  )
  ended(call, response)
  commit(turn, response)
  return response
}

function commit(turn: TurnScope, response: ModelResponse): void {
  const message = responseMessage(response)
  const { history, callIds } = turn.session
  if (response.toolCalls.length > 0) for (const { callId } of response.toolCalls) callIds.add(callId)
  const empty = message.content.length === 0
  if (!empty) turn.commit(message)
  turn.answer.committed(response.text, empty ? undefined : history.items.length - 1, response.toolCalls.length > 0)
}

function started({ turn, fields, callIndex }: ModelCall): void {
  const { observers } = turn.session.agent
  if (observers.has('model:start'))
    observers.emit('model:start', { type: 'model:start', ...turn.place, model: modelId(fields.model), callIndex })
}

function ended({ turn, fields, callIndex }: ModelCall, response: ModelResponse | undefined, error?: unknown): void {
  const { observers } = turn.session.agent
  if (!observers.has('model:end')) return
  const event = { type: 'model:end', ...turn.place, model: response?.model ?? modelId(fields.model), callIndex }
  observers.emit(
    'model:end',
    response === undefined
      ? { ...event, error }
      : { ...event, finishReason: response.finishReason, usage: { ...response.usage } },
  )
}
