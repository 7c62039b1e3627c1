import { AlliumError } from '../../errors/allium-error.ts'
import { freezeJson } from '../../messages/json.ts'
import type { Message } from '../../messages/message.ts'
import {
  describeModel,
  knownModel,
  type ModelRef,
  type ModelServer,
  modelId,
  type ResponseFormat,
  type Settings,
  type ToolChoice,
  type ToolDef,
} from '../../model/model.ts'
import { type ModelResponse, type ResponseInput, toResponse } from '../../model/response.ts'
import { State as Stand } from '../../onion/attempt.ts'
import { nameOf } from '../../onion/misuse.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../seams/register.ts'
import type { State } from '../../state/state-store.ts'
import { nothingStreamed, type Streamed } from '../../stream/streamed.ts'
import { TurnAttempt, type TurnContext } from '../turn/context.ts'
import type { Turn } from '../turn/turn.ts'
import { type CallFields, Own } from './call-fields.ts'
import type { ModelCall } from './model-call.ts'
import type { PhysicalCall } from './physical-call.ts'

/** Model scope: one call of the model. What it holds is what is sent. */
export interface ModelContext<S = State, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends TurnContext<S, Config, C, P> {
  /** This call's own list, safe to change; the instructions come first. The messages in it are frozen: put others in their place. */
  messages: Message[]
  /** What would be sent now, to read: without the copies that the other fields make. */
  readonly request: RequestView
  /** The id of the model that is called. */
  readonly model: string
  /** Where the physical call went, once there was one, and where its model tells. */
  readonly server: ModelServer | undefined
  settings: Settings
  toolDefs: ToolDef[]
  toolChoice: ToolChoice
  responseFormat: ResponseFormat
  /** Counts the model calls of this turn from 0. */
  readonly callIndex: number
  /** Counts the attempts of this call from 1. */
  readonly attempt: number
  /**
   * The calls of providers that were made inside this layer's next(), those of failed and left attempts too, and what each used.
   * What meters count: all of them have it from here, so it is the same everywhere.
   */
  readonly physicalCalls: readonly PhysicalCall[]
  /** Whether this attempt is of a run that goes on, and its journal has what came of it: no model is asked. */
  isRecorded(): boolean | PromiseLike<boolean>
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

/** One attempt of a model call, and the context of the layer that stands in it. */
export class ModelAttempt extends TurnAttempt implements ModelContext {
  declare readonly $call: ModelCall
  $fields: CallFields = undefined as never // set where the attempt is opened
  /** What of the fields is its own: bits of `Own`. */
  $own = 0
  /** What of the fields a layer inside, which has returned, could still reach into. */
  $borrowed = 0
  /** What has gone into its sink. */
  $streamed: Streamed = nothingStreamed
  /** What next() gave last: a layer that returns just that has nothing to be asked. */
  $given: ModelResponse | undefined = undefined
  /** The answer of its layer, which skips the call. */
  $skip: ModelResponse | undefined = undefined

  override get $turn(): Turn {
    return this.$call.turn
  }

  override get messages(): Message[] {
    return this.$copyOf('messages', Own.messages) as Message[]
  }
  override set messages(messages: Message[]) {
    this.$change('messages', messages, Own.messages)
  }
  get request(): RequestView {
    const { toolDefs: tools, settings, toolChoice, responseFormat } = this.$fields
    return { messages: this.$messages(), tools, settings, toolChoice, responseFormat }
  }
  get model(): string {
    return modelId(this.$fields.model)
  }
  isRecorded(): boolean | PromiseLike<boolean> {
    return this.$turn.steps?.isRecorded(`model:${this.callIndex}:${this.attempt}`) ?? false
  }
  get server(): ModelServer | undefined {
    return this.$call.server
  }
  get settings(): Settings {
    return this.$copyOf('settings', Own.settings) as Settings
  }
  set settings(settings: Settings) {
    this.$change('settings', settings, Own.settings)
  }
  get toolDefs(): ToolDef[] {
    return this.$copyOf('toolDefs', Own.toolDefs) as ToolDef[]
  }
  set toolDefs(toolDefs: ToolDef[]) {
    this.$change('toolDefs', toolDefs, Own.toolDefs)
  }
  get toolChoice(): ToolChoice {
    return this.$fields.toolChoice
  }
  set toolChoice(toolChoice: ToolChoice) {
    this.$change('toolChoice', toolChoice)
  }
  get responseFormat(): ResponseFormat {
    return this.$fields.responseFormat
  }
  set responseFormat(responseFormat: ResponseFormat) {
    this.$change('responseFormat', responseFormat)
  }
  get callIndex(): number {
    return this.$call.callIndex
  }
  get attempt(): number {
    return this.$number
  }
  protected override get onceScope(): string {
    return `model:${this.$call.callIndex}:`
  }
  get physicalCalls(): PhysicalCall[] {
    const made = this.$call.physical.filter((call) => call.isInside(this))
    return made.map(({ model, usage }) => ({ model, usage: { ...usage } }))
  }
  setModel(model: ModelRef): void {
    const known = knownModel(model, this.$turn.session.agent.setup.adaptModel)
    if (known === undefined)
      throw new AlliumError(
        'model.invalid',
        `ctx.setModel() takes a model or a string such as "anthropic/claude-sonnet-4-6", but ${describeModel(model)}.`,
      )
    this.$change('model', known)
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
    this.toolDefs = this.$fields.toolDefs.filter(({ name }) => !names.includes(name))
  }
  skipCall(given: ResponseInput): ModelResponse {
    const response = toResponse(given, nameOf(this), this.model)
    if (!this.$isMute('skipCall')) this.$skip = response
    return response
  }

  /** A field that its layer may change in place: copied once, so that no other attempt sees what is done to it. */
  $copyOf(key: 'messages' | 'settings' | 'toolDefs', bit: number): CallFields[typeof key] {
    const running = this.$state === Stand.running
    if (running && (this.$own & bit) !== 0) return this.$fields[key]
    const copy =
      key === 'messages'
        ? this.$messages()
        : key === 'settings'
          ? { ...this.$fields.settings }
          : [...this.$fields.toolDefs]
    // The layers outside have its fields once it has returned.
    if (!running && this.$isMute(key)) return copy as never
    this.$write(key, copy, bit)
    return copy as never
  }

  $change<K extends keyof CallFields>(key: K, value: CallFields[K], bit = 0): void {
    if (!this.$isMute(key)) this.$write(key, value, bit)
  }

  $write<K extends keyof CallFields>(key: K, value: CallFields[K], bit: number): void {
    if ((this.$own & Own.record) === 0) this.$fields = { ...this.$fields }
    this.$own |= Own.record | bit
    this.$fields[key] = value
  }

  /** A list of its own of what would be sent; each message is frozen. */
  $messages(): Message[] {
    const messages = this.$fields.messages?.slice() ?? this.$call.messages()
    for (const message of messages) freezeJson(message)
    return messages
  }
}
