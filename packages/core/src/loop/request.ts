import { Cancel } from '../compose/cancel.ts'
import type { Message } from '../messages/message.ts'
import type { ModelRequest, ResponseFormat, Settings, ToolChoice, ToolDef } from '../model/model.ts'
import type { ModelCall } from '../scopes/model-call.ts'

/** A request together with the place to cancel it: its signal is made only for a provider that reads it. */
export function buildRequest(call: ModelCall): { request: ModelRequest; cancel: Cancel } {
  const cancel = new Cancel()
  const { settings, toolDefs, toolChoice, responseFormat } = call.fields.now
  return {
    request: new Request(
      call.messages,
      toolDefs,
      toolChoice,
      settings,
      responseFormat,
      call.turn.session.principal,
      cancel,
    ),
    cancel,
  }
}

class Request implements ModelRequest {
  readonly #cancel: Cancel

  constructor(
    readonly messages: readonly Message[],
    readonly tools: readonly ToolDef[],
    readonly toolChoice: ToolChoice,
    readonly settings: Readonly<Settings>,
    readonly responseFormat: ResponseFormat,
    readonly principal: unknown,
    cancel: Cancel,
  ) {
    this.#cancel = cancel
  }

  get signal(): AbortSignal {
    return this.#cancel.signal
  }
}
