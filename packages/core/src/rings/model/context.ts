import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import type { Message } from '../../messages/message.ts'
import {
  isModel,
  type ModelRef,
  modelId,
  type ResponseFormat,
  type Settings,
  type ToolChoice,
  type ToolDef,
} from '../../model/model.ts'
import { type ModelResponse, type ResponseInput, toResponse } from '../../model/response.ts'
import type { State } from '../../state/state-store.ts'
import { type TurnContext, TurnView } from '../turn/context.ts'
import type { TurnScope } from '../turn/turn-scope.ts'
import type { ModelCall } from './model-call.ts'

/** Model scope: one call of the model. What it holds is what is sent. */
export interface ModelContext<S = State, Config = unknown, C = unknown, P = unknown>
  extends TurnContext<S, Config, C, P> {
  /** This call's own messages, safe to change; the instructions come first. */
  messages: Message[]
  /** What would be sent now, to read: without the copies that the other fields make. */
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
  /** Calls another model. */
  setModel(model: ModelRef): void
  /** Adds a system message after the leading ones. */
  addSystemMessage(text: string): void
  /** Adds a message at the end of this call. */
  addMessage(message: Message): void
  /** Hides tools from this call. */
  removeTools(...names: string[]): void
  /** Answers without the inner layers and the model; gives the answer back. */
  skipCall(response: ResponseInput): ModelResponse
}

/** What a call would send, to read. */
export interface RequestView {
  readonly messages: readonly Readonly<Message>[]
  readonly tools: readonly ToolDef[]
  readonly settings: Readonly<Settings>
  readonly toolChoice: ToolChoice
  readonly responseFormat: ResponseFormat
}

export class ModelView extends TurnView implements ModelContext {
  protected override get $turn(): TurnScope {
    return this.$call.turn
  }
  protected get $call(): ModelCall {
    return this.$frame.passage as ModelCall
  }

  override get messages(): Message[] {
    return this.$call.fields.own(this.$frame, 'messages')
  }
  override set messages(messages: Message[]) {
    this.$call.fields.change(this.$frame, { messages })
  }
  get request(): RequestView {
    const { messages } = this.$call
    const { toolDefs: tools, settings, toolChoice, responseFormat } = this.$call.fields.now
    return { messages, tools, settings, toolChoice, responseFormat }
  }
  get model(): string {
    return modelId(this.$call.fields.now.model)
  }
  get settings(): Settings {
    return this.$call.fields.own(this.$frame, 'settings')
  }
  set settings(settings: Settings) {
    this.$call.fields.change(this.$frame, { settings })
  }
  get toolDefs(): ToolDef[] {
    return this.$call.fields.own(this.$frame, 'toolDefs') as ToolDef[]
  }
  set toolDefs(toolDefs: ToolDef[]) {
    this.$call.fields.change(this.$frame, { toolDefs })
  }
  get toolChoice(): ToolChoice {
    return this.$call.fields.now.toolChoice
  }
  set toolChoice(toolChoice: ToolChoice) {
    this.$call.fields.change(this.$frame, { toolChoice })
  }
  get responseFormat(): ResponseFormat {
    return this.$call.fields.now.responseFormat
  }
  set responseFormat(responseFormat: ResponseFormat) {
    this.$call.fields.change(this.$frame, { responseFormat })
  }
  get callIndex(): number {
    return this.$call.callIndex
  }
  get attempt(): number {
    return this.$call.attempt
  }
  setModel(model: ModelRef): void {
    if (typeof model !== 'string' && !isModel(model))
      throw new AlliumError(
        'model.invalid',
        `ctx.setModel() takes a model or a string such as "anthropic/claude-sonnet-4-6", but ${describe(model)} was given.`,
      )
    this.$call.fields.change(this.$frame, { model })
  }
  addSystemMessage(text: string): void {
    const messages = this.messages
    const at = messages.findIndex(({ role }) => role !== 'system')
    messages.splice(at < 0 ? messages.length : at, 0, { role: 'system', content: text })
  }
  addMessage(message: Message): void {
    this.messages.push(message)
  }
  removeTools(...names: string[]): void {
    this.toolDefs = this.$call.fields.now.toolDefs.filter(({ name }) => !names.includes(name))
  }
  skipCall(given: ResponseInput): ModelResponse {
    const response = toResponse(given, this.$frame.hook.name, this.model)
    this.$call.fields.change(this.$frame, { skip: { frame: this.$frame, response } })
    return response
  }
}
