import { coreFrame, type Frame, Phase } from '../compose/frame.ts'
import { type Ending, Passage } from '../compose/passage.ts'
import { after } from '../compose/thenable.ts'
import { AlliumError } from '../errors/allium-error.ts'
import { copyMessage } from '../messages/copy-message.ts'
import type { Message } from '../messages/message.ts'
import {
  type ModelRef,
  modelId,
  type ResponseFormat,
  type Settings,
  type ToolChoice,
  type ToolDef,
} from '../model/model.ts'
import { type ModelResponse, toResponse } from '../model/response.ts'
import { continuation, nothingSaid, type Said, saidAs, saidBy, saysSame, wholeResponse } from '../model/said.ts'
import { pushAll, type Sink } from '../model/sink.ts'
import type { Stage } from '../model/stage.ts'
import { ModelView } from './model-context.ts'
import { mismatch, openStage, streamOf } from './stream-verbs.ts'
import { TurnView } from './turn-context.ts'
import type { TurnScope } from './turn-scope.ts'

/** What layers may change of a call, and what a re-entry sets back. Never changed in place: see `own`. */
export interface CallFields {
  /** Undefined while nobody has looked: then the turn's working view is sent as it is. */
  readonly messages: Message[] | undefined
  readonly model: ModelRef
  readonly settings: Readonly<Settings>
  readonly toolDefs: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly responseFormat: ResponseFormat
  /** The answer of a layer that skips the call; it is that layer's own. */
  readonly skip: { readonly frame: Frame; readonly response: ModelResponse } | undefined
  readonly sink: Sink
}

/** One call of the model, as one answer; attempts of it may be several. */
export class ModelCall extends Passage {
  override readonly reentrant = true
  readonly callIndex: number
  attempt = 1
  fields: CallFields
  /** What has gone into the stream, at the present place of the onion. */
  said: Said = nothingSaid
  /** Closes the provider's stream, while one runs. */
  live: ((reason: unknown) => void) | undefined
  /** The layer that may change `fields` and what they hold. */
  #owner: Frame | undefined
  #copied: Set<keyof CallFields> | undefined
  #stages: { frame: Frame; stage: Stage }[] | undefined
  readonly #physical: (call: ModelCall) => PromiseLike<ModelResponse>

  constructor(
    readonly turn: TurnScope,
    physical: (call: ModelCall) => PromiseLike<ModelResponse>,
  ) {
    super('model', turn.options.onion.model, turn.cancel)
    this.callIndex = turn.callIndex++
    this.#physical = physical
    const { model, settings } = turn.options
    this.fields = {
      messages: undefined,
      model,
      settings,
      toolDefs: turn.session.agent.tools.defs,
      toolChoice: 'auto',
      responseFormat: text,
      skip: undefined,
      sink: turn.answer.sink,
    }
  }

  /** What is sent: the instructions, then the working view. */
  get messages(): readonly Message[] {
    if (this.fields.messages !== undefined) return this.fields.messages
    const { turn } = this
    const system = turn.session.agent.instructions(() => new TurnView(coreFrame(turn, 'instructions'), turn))
    return system === undefined ? turn.working.slice() : [system, ...turn.working]
  }

  /** Changes fields on behalf of a layer; one that was left behind changes nothing. */
  change(frame: Frame, change: Partial<CallFields>): void {
    if (!frame.alive) return
    this.#owner = frame
    this.fields = { ...this.fields, ...change }
  }

  /** A field that a layer may change in place: copied once for each layer that looks, so that a re-entry finds it as it was. */
  own<K extends 'messages' | 'settings' | 'toolDefs'>(frame: Frame, key: K): NonNullable<CallFields[K]> {
    if (this.#owner !== frame) this.#copied = undefined
    if (this.#copied?.has(key) === true) return this.fields[key] as NonNullable<CallFields[K]>
    const copy = this.#copyOf(key)
    this.change(frame, { [key]: copy })
    this.#copied ??= new Set()
    this.#copied.add(key)
    return copy as NonNullable<CallFields[K]>
  }

  override ending(): Ending | undefined {
    return this.turn.end
  }
  override decided(frame: Frame): ModelResponse | undefined {
    return this.fields.skip?.frame === frame ? this.fields.skip.response : undefined
  }
  view(frame: Frame): object {
    return new ModelView(frame, this)
  }
  core(): PromiseLike<ModelResponse> {
    this.#handOver()
    return this.#physical(this)
  }
  override entering(frame: Frame): void {
    frame.saved = this.fields
    this.#enter(frame)
  }
  override reentering(frame: Frame): void {
    this.attempt++
    const { skip: _, ...kept } = this.fields
    frame.saved = this.fields = { ...kept, skip: undefined }
    if (this.fields.sink.used) this.fields.sink.reset()
    this.#enter(frame)
  }
  override arrived(frame: Frame, value: unknown): unknown {
    const stage = streamOf(frame)?.stage
    const response = value as ModelResponse
    if (stage === undefined) return this.#back(frame, response)
    return after(stage.end(), () => {
      this.#stages?.pop()
      const { assembly } = stage
      this.said = saidBy(assembly)
      const toolCalls = assembly.toolCalls()
      return this.#back(frame, {
        ...response,
        text: assembly.text,
        ...(assembly.reasoning !== undefined && { reasoning: assembly.reasoning }),
        toolCalls,
        message: assembly.message(toolCalls),
      })
    })
  }
  override missed(frame: Frame): void {
    this.fields = frame.saved as CallFields
    this.#handOver()
    this.#kill(frame)
    this.said = nothingSaid
  }
  override close(frame: Frame): void {
    this.live?.(undefined)
    this.#kill(frame)
  }
  leaving(frame: Frame, value: unknown): unknown {
    const given = value === undefined ? this.decided(frame) : value
    const { name } = frame.hook
    if (given === undefined)
      throw new AlliumError(
        'layer.no_result',
        `Layer "${name}" (model) returned nothing. Return what next() gave, or answer with "return ctx.skipCall(response)".`,
        { details: { layer: name, scope: 'model' } },
      )
    const response = toResponse(given, name, modelId(this.fields.model))
    const stage = frame.phase === Phase.done ? streamOf(frame)?.stage : undefined
    if (frame.phase === Phase.done && saysSame(this.said, response))
      return stage?.transforms.hold === true ? after(stage.release(), () => response) : response
    return after(this.#say(frame, response, stage), () => {
      this.said = saidAs(response)
      return response
    })
  }

  /** Streams what a layer gave to the layers outside it, or throws where that would take back what they have seen. */
  #say(frame: Frame, response: ModelResponse, stage: Stage | undefined): void | Promise<void> {
    const { sink } = this.fields
    if (stage?.transforms.hold === true) {
      stage.replace(wholeResponse(response))
      return stage.release()
    }
    const rest = continuation(frame.phase === Phase.done ? this.said : nothingSaid, response)
    if (frame.phase === Phase.done && rest !== undefined) return pushAll(sink, rest)
    if (frame.phase === Phase.done && sink.used && !sink.open) throw mismatch(frame, 'the response')
    if (sink.used) sink.reset()
    return pushAll(sink, wholeResponse(response))
  }

  #enter(frame: Frame): void {
    this.#handOver()
    const { sink } = this.fields
    const own = openStage(frame, sink)
    if (own === sink) return
    this.fields = { ...this.fields, sink: own }
    this.#stages ??= []
    this.#stages.push({ frame, stage: own as Stage })
  }

  /** Back at a layer whose next() succeeded: its own place in the stream, and for a re-entering one its own fields. */
  #back(frame: Frame, response: ModelResponse): ModelResponse {
    const saved = frame.saved as CallFields
    this.fields = frame.hook.reenters
      ? saved
      : this.fields.sink === saved.sink
        ? this.fields
        : { ...this.fields, sink: saved.sink }
    this.#handOver()
    return response
  }

  #handOver(): void {
    this.#owner = undefined
  }

  #kill(from: Frame): void {
    const stages = this.#stages
    while (stages !== undefined && stages.length > 0 && (stages.at(-1) as { frame: Frame }).frame.index >= from.index)
      stages.pop()?.stage.kill()
  }

  #copyOf(key: 'messages' | 'settings' | 'toolDefs'): CallFields[typeof key] {
    if (key === 'messages') return this.messages.map(copyMessage)
    return key === 'settings' ? { ...this.fields.settings } : [...this.fields.toolDefs]
  }
}

const text: ResponseFormat = { type: 'text' }
