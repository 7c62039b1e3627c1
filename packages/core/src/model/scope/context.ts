import { layerOf } from '../../agent/scope/context.ts'
import type { ModelContext, PhysicalCall, RequestView } from '../../contexts/model.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { freezeJson } from '../../messages/json.ts'
import type { Message } from '../../messages/message.ts'
import { State } from '../../onion/attempt.ts'
import type { Cancel } from '../../onion/cancel.ts'
import { nothingStreamed, type Streamed } from '../../stream/streamed.ts'
import { AttemptInTurn } from '../../turn/attempt-in-turn.ts'
import { type CallFields, type ModelCall, Own } from '../../turn/model-call.ts'
import {
  describeModel,
  knownModel,
  type ModelRef,
  modelId,
  type ResponseFormat,
  type Settings,
  type ToolChoice,
  type ToolDef,
} from '../model.ts'
import { type ModelResponse, type ResponseInput, toResponse } from '../response.ts'

/** One attempt of a model call, and the context of its layer. */
export class ModelAttempt extends AttemptInTurn<ModelCall> implements ModelContext {
  $fields: CallFields
  /** The fields it owns: bits of `Own`. */
  $own = 0
  /** The fields that an inner layer, which has returned, could still change. */
  $borrowed = 0
  /** The content that went into its sink. */
  $streamed: Streamed = nothingStreamed
  /** The last result of next(). If the layer returns the same object, it needs no check. */
  $given: ModelResponse | undefined = undefined
  /** The layer's answer from skipCall(). */
  $skip: ModelResponse | undefined = undefined

  constructor(call: ModelCall, caller: ModelAttempt | undefined, number: number, cancel: Cancel) {
    super(call, caller, number, cancel)
    this.$fields = caller === undefined ? call.start() : caller.$fields
    if (caller === undefined) this.$sink = call.turn.answer.sink
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
    const response = toResponse(given, this.$name, this.model)
    if (!this.$isMute('skipCall')) this.$skip = response
    return response
  }

  /** Returns a field that the layer may change in place. It is copied once, so that no other attempt sees the changes. */
  $copyOf(key: 'messages' | 'settings' | 'toolDefs', bit: number): CallFields[typeof key] {
    const running = this.$state === State.running
    if (running && (this.$own & bit) !== 0) return this.$fields[key]
    const copy =
      key === 'messages'
        ? this.$messages()
        : key === 'settings'
          ? { ...this.$fields.settings }
          : [...this.$fields.toolDefs]
    // After the layer has returned, the outer layers own its fields.
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

  /** Returns a new list of the messages that would be sent. Each message is frozen. */
  $messages(): Message[] {
    const messages = this.$fields.messages?.slice() ?? this.$call.messages()
    for (const message of messages) freezeJson(message)
    return messages
  }
}

type OfModel = ModelContext<unknown, unknown, unknown, unknown>

/** Returns whether this attempt is a replay whose result is in the journal, so that no model is called. */
export function isRecorded(ctx: OfModel): boolean | PromiseLike<boolean> {
  const { $turn, callIndex, $number } = layerOf('isRecorded()', ctx, ModelAttempt)
  return $turn.steps?.isRecorded(`model:${callIndex}:${$number}`) ?? false
}

/**
 * Returns the provider calls made inside this layer's next(), with their usage. Includes calls of failed and abandoned
 * attempts. Meters count these, so that all of them agree.
 */
export function physicalCallsOf(ctx: OfModel): readonly PhysicalCall[] {
  const layer = layerOf('physicalCallsOf()', ctx, ModelAttempt)
  const made = layer.$call.physical.filter((call) => call.isInside(layer.$real ?? layer))
  return made.map(({ model, server, usage }) => ({ model, server, usage: { ...usage } }))
}
