import type { Message } from '../../messages/message.ts'
import { modelId, type ResponseFormat } from '../../model/model.ts'
import { type ModelResponse, toResponse } from '../../model/response.ts'
import { type Ending, Passage } from '../../onion/hook.ts'
import { layerError } from '../../onion/misuse.ts'
import { coreFrame, type Frame, Phase } from '../../onion/next.ts'
import { after } from '../../onion/thenable.ts'
import {
  continuation,
  nothingSaid,
  type Said,
  saidAs,
  saidBy,
  saysSame,
  thinksSame,
  wholeResponse,
} from '../../stream/said.ts'
import { pushAll } from '../../stream/sink.ts'
import type { Stage } from '../../stream/stage.ts'
import { TurnView } from '../turn/context.ts'
import { mismatch, openStage, streamOf } from '../turn/stream-verbs.ts'
import type { TurnScope } from '../turn/turn-scope.ts'
import { type CallFields, OwnedFields } from './call-fields.ts'
import { ModelView } from './context.ts'

/** One call of the model, as one answer; attempts of it may be several. */
export class ModelCall extends Passage {
  override readonly reentrant = true
  readonly callIndex: number
  attempt = 1
  readonly fields: OwnedFields
  /** What has gone into the stream, at the present place of the onion. */
  said: Said = nothingSaid
  /** Closes the provider's stream, while one runs. */
  live: ((reason: unknown) => void) | undefined
  #stages: { frame: Frame; stage: Stage }[] | undefined
  /** What next() gave last: a layer that returns just that has nothing to be asked. */
  #given: ModelResponse | undefined
  readonly #physical: (call: ModelCall) => PromiseLike<ModelResponse>

  constructor(
    readonly turn: TurnScope,
    physical: (call: ModelCall) => PromiseLike<ModelResponse>,
  ) {
    super('model', turn.options.onion.model, turn.inside)
    this.callIndex = turn.callIndex++
    this.#physical = physical
    const { model, settings, format } = turn.options
    const { defs } = turn.session.agent.tools
    const toolDefs = format?.tool === undefined ? defs : [...defs, format.tool]
    const { sink } = turn.answer
    const messages = undefined
    const skip = undefined
    const start: CallFields = {
      messages,
      model,
      settings,
      toolDefs,
      toolChoice: format?.tool === undefined ? 'auto' : 'required',
      responseFormat: format?.responseFormat ?? text,
      skip,
      sink,
    }
    this.fields = new OwnedFields(start, this)
  }

  /** What is sent: the instructions, then the working view. */
  get messages(): readonly Message[] {
    const { messages } = this.fields.now
    if (messages !== undefined) return messages
    const { turn } = this
    const system = turn.session.agent.instructions(() => new TurnView(coreFrame(turn, 'instructions')))
    return system === undefined ? turn.working.slice() : [system].concat(turn.working)
  }

  override ending(): Ending | undefined {
    return this.turn.end
  }
  override decided(frame: Frame): ModelResponse | undefined {
    const { skip } = this.fields.now
    return skip?.frame === frame ? skip.response : undefined
  }
  view(frame: Frame): object {
    return new ModelView(frame)
  }
  core(): PromiseLike<ModelResponse> {
    this.fields.handOver()
    return this.#physical(this)
  }
  override entering(frame: Frame): void {
    frame.saved = this.fields.now
    this.#enter(frame)
  }
  override reentering(frame: Frame): void {
    this.attempt++
    const { now } = this.fields
    frame.saved = now.skip === undefined ? now : { ...now, skip: undefined }
    if (now.sink.used) now.sink.reset()
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
    this.fields.set(frame.saved as CallFields)
    this.#kill(frame)
    this.said = nothingSaid
  }
  override close(frame: Frame): void {
    this.live?.(undefined)
    this.#kill(frame)
  }
  leaving(frame: Frame, value: unknown): unknown {
    if (
      frame.phase === Phase.done &&
      this.#given !== undefined &&
      value === this.#given &&
      frame.own === undefined &&
      saysSame(this.said, this.#given)
    )
      return value
    const given = value === undefined ? this.decided(frame) : value
    if (given === undefined) {
      const mend = 'Return what next() gave, or answer with "return ctx.skipCall(response)".'
      throw layerError(frame, 'layer.no_result', `returned nothing. ${mend}`)
    }
    const response = toResponse(given, frame.hook.name, modelId(this.fields.now.model))
    const stage = frame.phase === Phase.done ? streamOf(frame)?.stage : undefined
    if (frame.phase === Phase.done && saysSame(this.said, response)) {
      if (stage?.transforms.hold !== true) return response
      if (!thinksSame(stage.assembly, response)) stage.replace(wholeResponse(response))
      return after(stage.release(), () => response)
    }
    return after(this.#say(frame, response, stage), () => {
      this.said = saidAs(response)
      return response
    })
  }

  /** Streams what a layer gave to the layers outside it, or throws where that would take back what they have seen. */
  #say(frame: Frame, response: ModelResponse, stage: Stage | undefined): void | Promise<void> {
    const { sink } = this.fields.now
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
    const saved = frame.saved as CallFields
    const sink = openStage(frame, saved.sink, true)
    if (sink === saved.sink) return this.fields.set(saved)
    this.fields.set({ ...saved, sink })
    this.#stages ??= []
    this.#stages.push({ frame, stage: sink as Stage })
  }

  /** Back at a layer whose next() succeeded: its own place in the stream, and for a re-entering one its own fields. */
  #back(frame: Frame, response: ModelResponse): ModelResponse {
    const { now } = this.fields
    const saved = frame.saved as CallFields
    if (frame.hook.reenters) this.fields.set(saved)
    else if (now.sink !== saved.sink) this.fields.set({ ...now, sink: saved.sink })
    else this.fields.handOver()
    this.#given = response
    return response
  }

  /** Drops what still comes from the stages of a layer and of those inside it. */
  #kill(from: Frame): void {
    const stages = this.#stages ?? []
    for (let last = stages.at(-1); last !== undefined && last.frame.index >= from.index; last = stages.at(-1)) {
      last.stage.kill()
      stages.pop()
    }
  }
}

const text: ResponseFormat = { type: 'text' }
