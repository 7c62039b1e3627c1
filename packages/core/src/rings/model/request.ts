import type { Message } from '../../messages/message.ts'
import type { ModelRequest, ResponseFormat, Settings, ToolChoice, ToolDef } from '../../model/model.ts'
import { Cancel } from '../../onion/cancel.ts'
import type { ModelAttempt } from './context.ts'

/** The request of one provider call. Its abort signal is created only if the provider reads it. */
export class ProviderRequest implements ModelRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly settings: Readonly<Settings>
  readonly responseFormat: ResponseFormat
  readonly principal: unknown
  #cancel: Cancel | undefined

  constructor({ $fields, $call: call }: ModelAttempt) {
    const { messages, settings, toolDefs, toolChoice, responseFormat } = $fields
    this.messages = messages ?? call.messages()
    this.tools = toolDefs
    this.toolChoice = toolChoice
    this.settings = settings
    this.responseFormat = responseFormat
    this.principal = call.turn.session.principal
  }

  get signal(): AbortSignal {
    this.#cancel ??= new Cancel()
    return this.#cancel.signal
  }

  abort(reason: unknown): void {
    this.#cancel ??= new Cancel()
    this.#cancel.abort(reason)
  }
}
