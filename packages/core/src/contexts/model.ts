import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { ModelRef, ModelServer, ResponseFormat, Settings, ToolChoice, ToolDef } from '../model/model.ts'
import type { ModelResponse, ResponseInput } from '../model/response.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { State } from '../state/state-store.ts'
import type { StreamVerbs } from '../stream/transforms.ts'
import type { TurnView } from './turn.ts'

/** One call of a provider's `stream()`, with its model and usage. Until it ends, the usage contains only the call. */
export interface PhysicalCall {
  /** The id of the model. */
  readonly model: string
  /** The server, if the model reports one. */
  readonly server?: ModelServer | undefined
  readonly usage: Readonly<Usage>
}

/** The request of a call, read-only. */
export interface RequestView {
  readonly messages: readonly Readonly<Message>[]
  readonly tools: readonly ToolDef[]
  readonly settings: Readonly<Settings>
  readonly toolChoice: ToolChoice
  readonly responseFormat: ResponseFormat
}

/** Model scope: one model call. Its fields are sent to the model. */
export interface ModelContext<S = State, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends TurnView<S, Config, C, P>,
    StreamVerbs {
  /**
   * The messages of this call, with the instructions first. The list is safe to change. The messages in it are frozen,
   * so replace them.
   */
  messages: Message[]
  /** The request as it would be sent now, read-only. Reading it avoids the copies that the other fields make. */
  readonly request: RequestView
  /** The id of the model that is called. */
  readonly model: string
  settings: Settings
  toolDefs: ToolDef[]
  toolChoice: ToolChoice
  responseFormat: ResponseFormat
  /** Counts the model calls of this turn from 0. */
  readonly callIndex: number
  /** Counts the attempts of this call from 1. */
  readonly attempt: number
  /** Switches this call to another model. */
  setModel(model: ModelRef): void
  /** Adds a system message after the leading ones. */
  addSystemMessage(text: string): void
  /** Adds a message at the end of this call. */
  addMessage(message: Message): void
  /** Hides tools from this call. */
  removeTools(...names: string[]): void
  /** Answers without calling the inner layers and the model. Returns the answer. */
  skipCall(response: ResponseInput): ModelResponse
}
