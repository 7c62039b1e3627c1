import { describe } from '../../errors/describe.ts'
import { after } from '../../errors/thenable.ts'
import { equalJson } from '../../messages/json.ts'
import type { FinishChunk, ModelWarning } from '../../model/chunk.ts'
import { type AnswerDetails, goesOn, type ModelResponse, toResponse } from '../../model/response.ts'
import { type Attempt, isOpen, isOver } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { Sink } from '../../stream/sink.ts'
import type { Stage } from '../../stream/stage.ts'
import type { StreamEnd } from '../../stream/transforms.ts'
import { AnswerMessage } from './answer-message.ts'
import { OutputSink } from './output-sink.ts'
import { StepEnd } from './step-end.ts'
import { mismatch } from './stream-verbs.ts'
import type { Turn } from './turn.ts'

/** The answer of a turn on its way outward: keeps the stream, the history and `ctx.output` in agreement. */
export class Answer {
  readonly outputSink: OutputSink
  readonly stepEnd: StepEnd
  #complete = false
  #output: string | null = null
  /** The text of the answer in the stream at the present place of the onion. */
  #streamedText = ''
  /** The part of it that had left all layers before the present answer began. */
  #deliveredText = ''
  readonly #message: AnswerMessage
  #backpressure: Promise<void> | undefined
  /** It has left all layers of the turn: their pipes have ended, and what they still say begins in fresh ones. */
  #isDelivered = false
  /** The answer asked for tools, or a message came in: it stands in the history, and what follows is another one. */
  #isFollowed = false
  #response: ModelResponse | undefined
  #warnings: ModelWarning[] | undefined
  readonly #turn: Turn

  constructor(turn: Turn) {
    this.#turn = turn
    this.outputSink = new OutputSink(turn)
    this.stepEnd = new StepEnd(turn, this.outputSink)
    this.#message = new AnswerMessage(turn.session.history)
  }

  get output(): string | null {
    return this.#layerAnswer ?? this.#output
  }
  /** A model was asked: else no pipe of a turn layer has a stream. */
  modelCalled = false
  /** What a turn layer has set as its own answer, which no core has produced. */
  #layerAnswer: string | undefined
  /** A turn layer has set an answer of its own. */
  get isPending(): boolean {
    return this.#layerAnswer !== undefined
  }
  /** Whether chunks of the present answer have reached the reader. */
  get isShown(): boolean {
    return this.outputSink.used && !this.outputSink.open
  }
  /** What the model calls of the turn send into: the stage of the innermost turn layer, or the outlet. */
  get sink(): Sink {
    return this.#turn.lifecycle.core?.$sink ?? this.outputSink
  }

  /** The core begins: the input enters the history, what was set before is void. */
  begin(): void {
    this.#output = null
    this.#layerAnswer = undefined
    this.#turn.view.takeInput()
  }

  /** A model call begins: its answer is a new one for every layer of the turn. */
  beginCall(): void {
    this.modelCalled = true
    this.#beginAnswer()
  }

  #beginAnswer(): void {
    this.#beginStages()
    this.outputSink.begin()
    this.#message.begin()
    this.#streamedText = ''
    this.#deliveredText = ''
    this.#isFollowed = this.#isDelivered = false
  }

  /** Whether the layers of the turn must let go of an answer before another step. The last answer they end as they return. */
  flushes(response: ModelResponse, followed: boolean): boolean {
    return this.sink !== this.outputSink && (followed || goesOn(response))
  }

  /** The answer as it left the outermost layer of the turn. */
  async flush(response: ModelResponse): Promise<ModelResponse> {
    let stage = this.sink as Stage
    for (; ; stage = stage.out as Stage) {
      await stage.end({ response })
      if (stage.out === this.outputSink) break
    }
    this.#isDelivered = true
    const { assembly } = stage
    const toolCalls = assembly.toolCalls()
    const { reasoning: _, ...rest } = response
    const { text, reasoning } = assembly
    const delivered = { ...rest, text, ...(reasoning !== undefined && { reasoning }), toolCalls }
    return { ...delivered, message: assembly.message(toolCalls) }
  }

  /** The finish of a call. */
  finish(chunk: FinishChunk, flushed: boolean): void {
    this.stepEnd.finish(chunk, flushed || this.sink === this.outputSink)
  }

  /** What was shown of an answer that is not in the history. */
  get unfinished(): string {
    return !this.#message.exists && !this.#complete ? this.outputSink.shown : ''
  }

  /** Puts what the last finish told on the result, and every warning once. */
  report(result: AnswerDetails): void {
    if (this.#warnings !== undefined) result.warnings = this.#warnings
    if (this.#response === undefined) return
    const { finishReason, rawFinishReason, responseId, providerMetadata } = this.#response
    result.finishReason = finishReason
    if (rawFinishReason !== undefined) result.rawFinishReason = rawFinishReason
    if (responseId !== undefined) result.responseId = responseId
    if (providerMetadata !== undefined) result.providerMetadata = providerMetadata
  }
  warned(warning: ModelWarning): void {
    this.#warnings ??= []
    if (!this.#warnings.some((known) => equalJson(known, warning))) this.#warnings.push(warning)
  }

  /** The message of a step is in the history. */
  committed(response: ModelResponse, at: number | undefined, followed: boolean): void {
    this.#response = response
    this.#streamedText = response.text
    this.#isFollowed = followed || goesOn(response)
    this.#deliveredText = this.#isFollowed || this.#isDelivered ? response.text : ''
    this.#message.isAt(at, this.outputSink.open)
  }

  /** The loop has ended. What a layer still says of an answer that left begins in fresh pipes; after tools, behind the results. */
  complete(): void {
    this.#complete = true
    this.#output = this.#streamedText
    if (this.#isFollowed && this.#streamedText === '') this.#message.leave()
    if (!this.#isDelivered) return
    if (this.#isFollowed) this.#beginStages()
    else this.#eachStage((stage) => stage.refresh())
  }

  /** ctx.output = text, by a layer. */
  set(attempt: Attempt, text: unknown): void {
    if (typeof text !== 'string')
      throw layerError(attempt, 'layer.result', `set ctx.output to ${describe(text)}. It takes a text.`)
    if (attempt.$call === this.#turn && hasNotReached(attempt)) {
      this.#layerAnswer = text
      return
    }
    if (!this.#complete || text === this.#output) {
      this.#output = text
      if (attempt.$call !== this.#turn) this.#warnOfVoid(attempt)
      return
    }
    // Its next() runs: what that gives overwrites it.
    if (attempt.$inner !== undefined && isOpen(attempt.$inner)) return
    if (this.#turn.isSuspended)
      throw layerError(
        attempt,
        'layer.result',
        'set ctx.output while tool calls are pending. Set it when the turn is resumed and has its answer.',
      )
    const startsOver = this.#stream(attempt, text)
    this.#output = text
    this.#replace(text, startsOver)
  }

  /** The layers inside a stage have returned: what its pipes held back is part of the answer. */
  endStage(stage: Stage): unknown {
    if (!this.modelCalled && !stage.used) return stage.kill(noResponse)
    const end: StreamEnd = { response: this.#response ?? toResponse(this.#streamedText, 'the turn', '') }
    return after(stage.end(end), () => {
      if (!stage.changed) return
      const { assembly } = stage
      const text = this.#deliveredText + assembly.text
      if (text !== this.#streamedText) {
        this.#streamedText = this.#output = text
        this.#replace(text)
      }
      if (!this.#isDelivered) this.#message.replaceThoughts(assembly)
    })
  }

  /** A layer asked to hold what leaves. */
  hold(index: number): void {
    this.outputSink.hold(index)
  }

  /** A layer that held has failed: no reader sees what it kept, so it is nowhere, nor in the pipes outside. */
  dropHold(attempt: Attempt): void {
    if (!this.outputSink.drop(attempt.$index)) return
    this.dropUnseen()
    for (let sink = attempt.$sink as Sink; sink !== this.outputSink; sink = (sink as Stage).out)
      (sink as Stage).restart()
  }

  /** A reader forgets what is shown of the answer. */
  reset(): void {
    this.#message.reset()
  }

  /** A layer returns after the core: what it held goes on. */
  release(attempt: Attempt): unknown {
    if (attempt.$transforms?.hold === true && this.outputSink.release(attempt.$index)) this.#message.shown()
    const backpressure = this.#backpressure
    this.#backpressure = undefined
    return backpressure
  }

  /** A layer answers the turn by itself: without the core, or after it failed. */
  give(attempt: Attempt): unknown {
    const text = this.#layerAnswer ?? ''
    this.#turn.view.takeInput()
    this.#turn.view.seal()
    this.#layerAnswer = undefined
    this.#output = text
    const sink = attempt.$sink as Sink
    const startsOver = !this.#isFollowed && attempt.$inner !== undefined && sink.used
    if (this.#isFollowed) {
      this.#commitShown()
      this.#beginAnswer()
    } else if (startsOver) sink.reset()
    this.#deliveredText = ''
    this.#complete = true
    this.#streamedText = text
    this.#replace(text, startsOver)
    if (text !== '') this.#waitFor(sink.push({ type: 'text-delta', delta: text }))
    return this.release(attempt)
  }

  /** What pipes still said of an answer, behind its last tools, before a layer that swallowed a failure says something else. */
  #commitShown(): void {
    const { shown, open } = this.outputSink
    if (this.#complete && !open && shown !== this.#deliveredText) this.#replace(shown)
  }

  /** The run was blocked: what was said is taken back, and the reply, if any, said instead. */
  retract(reply: string | undefined): void {
    if (reply !== undefined) this.#turn.view.takeInput()
    // What was said before tools ran had left all layers by then: it stays, and what follows is another answer.
    if (this.#isFollowed) this.#beginAnswer()
    else if (this.outputSink.used) this.outputSink.reset()
    this.#output = reply ?? null
    if (reply !== undefined) void this.outputSink.push({ type: 'text-delta', delta: reply })
    this.#message.retract()
    this.#replace(reply ?? '')
  }

  /** The run has ended while a layer held: what no reader has seen is nowhere, whatever ended it. Pairs of calls and results stay. */
  dropUnseen(): void {
    this.#layerAnswer = undefined
    if (!this.#message.dropUnseen()) return
    this.#output = null
    this.#streamedText = this.#deliveredText = ''
    // What pipes outside still make of the end is an answer of its own, behind the results of its tools.
    this.#message.leave()
    this.#isFollowed = this.#isDelivered = false
  }

  /** The run was cut while the answer was on its way through the turn's layers: the history has what left them. */
  asShown(): void {
    const { assembly, shown } = this.outputSink
    if ((this.#isFollowed && !this.#complete) || assembly === undefined) return
    if (this.#message.exists) this.#message.replaceThoughts(assembly)
    else if (shown !== '') this.#message.interrupt(shown)
    this.#complete = true
    this.#output = shown
  }

  /** What there is to show of the answer so far. */
  get partial(): string {
    if (this.outputSink.open || !this.#complete) return this.outputSink.shown
    return this.#output ?? this.outputSink.shown
  }

  /** Inside the core the answer is still to come, and takes the place of what was set. */
  #warnOfVoid(attempt: Attempt): void {
    const { name = 'core' } = attempt.$hook ?? {}
    const what = `Layer "${name}" set ctx.output in the ${attempt.$call.ring.scope} scope, where the answer replaces it. Set it in a turn hook.`
    this.#turn.session.agent.warnOnce(`output:${name}`, what)
  }

  /** Returns whether the stream of this answer starts over. */
  #stream(attempt: Attempt, text: string): boolean {
    const sink = attempt.$sink as Sink
    let rest = text.slice(this.#streamedText.length)
    const startsOver = !text.startsWith(this.#streamedText)
    if (startsOver) {
      if (this.#deliveredText !== '' || (sink.used && !sink.open)) {
        const error = mismatch(attempt, 'the output')
        this.#turn.lifecycle.fail(error)
        throw error
      }
      if (sink.used) sink.reset()
      rest = text
    }
    this.#streamedText = text
    const backpressure = sink.push({ type: 'text-delta', delta: rest })
    this.#waitFor(backpressure)
    return startsOver
  }

  #waitFor(backpressure: void | Promise<void>): void {
    if (backpressure === undefined) return
    this.#backpressure =
      this.#backpressure === undefined ? backpressure : Promise.all([this.#backpressure, backpressure]).then(() => {})
  }

  #beginStages(): void {
    this.#eachStage((stage) => stage.begin())
  }

  #eachStage(act: (stage: Stage) => void): void {
    for (let sink = this.sink; sink !== this.outputSink; sink = (sink as Stage).out) act(sink as Stage)
  }

  #replace(text: string, startsOver = false): void {
    this.#message.replace(text, this.outputSink.open, startsOver)
  }
}

export const noResponse = new Error('No model was asked.')

/** Whether no next() of a layer has succeeded: then its output is an answer of its own. */
function hasNotReached({ $inner }: Attempt): boolean {
  return $inner === undefined || isOver($inner)
}
