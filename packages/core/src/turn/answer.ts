import { describe } from '../errors/describe.ts'
import { after } from '../errors/thenable.ts'
import type { ModelWarning } from '../model/chunk.ts'
import { type ModelResponse, toResponse } from '../model/response.ts'
import { type Attempt, type Call, isOpen, isOver } from '../onion/attempt.ts'
import { layerError } from '../onion/misuse.ts'
import type { Stage } from '../stream/stage.ts'
import type { Sink, StreamEnd } from '../stream/transforms.ts'
import { type AnswerEvent, type Phase, transitions } from './answer-phase.ts'
import { OutputSink, type OutputSinkHost } from './output-sink.ts'
import { mismatch } from './stream-verbs.ts'
import type { Transcript } from './transcript.ts'
import type { TurnLifecycle } from './turn-lifecycle.ts'

/** The turn that is answered. */
interface AnswerHost extends Call, OutputSinkHost {
  readonly callIndex: number
  readonly isSuspended: boolean
  readonly transcript: Transcript
  readonly lifecycle: Pick<TurnLifecycle, 'core' | 'fail'>
}

/** The answer of a turn on its way outward. Keeps the stream, the history and `ctx.output` in agreement. */
export class Answer {
  readonly outputSink: OutputSink
  #phase: Phase = 'streaming'
  /** The answer that a turn layer set itself, not produced by the core. */
  #layerAnswer: string | undefined
  #output: string | null = null
  /** The answer's text in the stream, after the layers that have returned so far. */
  #streamedText = ''
  /** The part of it that had passed all layers before the current answer started. */
  #deliveredText = ''
  readonly #transcript: Transcript
  #backpressure: Promise<void> | undefined
  /** The last response of a model. */
  response: ModelResponse | undefined
  /** The distinct warnings of all responses. */
  readonly warnings: ModelWarning[] = []
  readonly #turn: AnswerHost

  constructor(turn: AnswerHost) {
    this.#turn = turn
    this.outputSink = new OutputSink(turn)
    this.#transcript = turn.transcript
  }

  get output(): string | null {
    return this.#layerAnswer ?? this.#output
  }
  /** Whether a turn layer has set an answer. */
  get isPending(): boolean {
    return this.#layerAnswer !== undefined
  }
  /** Whether the reader has received chunks of the current answer. */
  get isShown(): boolean {
    return this.outputSink.used && !this.outputSink.open
  }
  /** Whether the loop has not ended, so that its answer is still to come. */
  get #isToCome(): boolean {
    return 'end' in transitions[this.#phase]
  }
  /** The text of the answer so far, as the reader sees it. */
  get partial(): string {
    const { open, shown } = this.outputSink
    return open || this.#isToCome ? shown : (this.#output ?? shown)
  }
  /** Whether the answer is followed by tool calls or a message, so that later content is another answer. */
  get #isFollowed(): boolean {
    return this.#phase === 'followed' || this.#phase === 'separate'
  }
  /** The sink for the turn's model calls: the stage of the innermost turn layer, or the output sink. */
  get sink(): Sink {
    return this.#turn.lifecycle.core?.$sink ?? this.outputSink
  }

  /** The core starts. An answer that was set before is discarded. */
  begin(): void {
    this.#output = null
    this.#layerAnswer = undefined
  }

  /** A model call starts. It starts a new answer for every layer of the turn. */
  beginAnswer(): void {
    this.#on('begin')
    if (this.outputSink.assembly !== undefined) this.#eachStage((stage) => stage.begin())
    this.outputSink.begin()
    this.#transcript.beginAnswer()
    this.#streamedText = this.#deliveredText = ''
  }

  /** Ends the stages of the turn and returns the answer as it left the outermost layer. */
  async flush(response: ModelResponse): Promise<ModelResponse> {
    let stage = this.sink as Stage
    for (; ; stage = stage.out as Stage) {
      await stage.end({ response })
      if (stage.out === this.outputSink) break
    }
    this.#on('flush')
    const { reasoning: _, ...rest } = response
    return { ...rest, ...stage.assembly.content() }
  }

  /** Adds the message of a step to the history. `followed`: tool calls or a message follow. */
  commit(response: ModelResponse, followed: boolean): void {
    this.#transcript.addAnswer(response, this.outputSink.open)
    this.response = response
    this.#streamedText = response.text
    if (followed) this.#on('follow')
    if (this.#phase !== 'streaming') this.#deliveredText = response.text
  }

  /**
   * The loop has ended. Content that a layer adds to a delivered answer goes through fresh pipes. After tool calls it
   * is placed after the results.
   */
  complete(): void {
    this.#output = this.#streamedText
    this.#on('end')
    if (this.#phase === 'appending') this.#eachStage((stage) => stage.refresh())
    if (this.#phase !== 'separate') return
    if (this.#streamedText === '') this.#transcript.beginAnswer()
    this.#eachStage((stage) => stage.begin())
  }

  /** Sets ctx.output from a layer. */
  set(attempt: Attempt, text: unknown): void {
    if (typeof text !== 'string')
      throw layerError(attempt, 'layer.result', `set ctx.output to ${describe(text)}. Set a string.`)
    const { $call, $inner } = attempt
    const isTurnLayer = $call === this.#turn
    // No next() of the layer has succeeded, so this is a complete answer, not a change of one.
    if (isTurnLayer && ($inner === undefined || isOver($inner))) {
      this.#layerAnswer = text
      return
    }
    if (this.#isToCome || text === this.#output) {
      this.#output = text
      if (!isTurnLayer) this.#warnOfVoid(attempt)
      return
    }
    // Its next() is running, and the answer of that will overwrite the text.
    if ($inner !== undefined && isOpen($inner)) return
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

  /** The layers inside a stage have returned. Adds the content that its pipes held back to the answer. */
  endStage(stage: Stage): unknown {
    if (this.#turn.callIndex === 0 && !stage.used) return stage.kill(noResponse)
    const end: StreamEnd = { response: this.response ?? toResponse(this.#streamedText, 'the turn', '') }
    return after(stage.end(end), () => {
      if (!stage.changed) return
      const { assembly } = stage
      const text = this.#deliveredText + assembly.text
      if (text !== this.#streamedText) {
        this.#streamedText = this.#output = text
        this.#replace(text)
      }
      if (this.#phase === 'returning') this.#transcript.replaceThoughts(assembly)
    })
  }

  /** A layer that held has failed. No reader sees the held content, so it is removed everywhere, also from the outer pipes. */
  dropHold(attempt: Attempt): void {
    if (!this.outputSink.drop(attempt.$index)) return
    this.dropUnseen()
    this.#eachStage((stage) => stage.restart(), attempt.$sink as Sink)
  }

  /** A layer returns after the core. Its held content is released. */
  release(attempt: Attempt): unknown {
    if (attempt.$transforms?.hold === true && this.outputSink.release(attempt.$index)) this.#transcript.shown()
    const backpressure = this.#backpressure
    this.#backpressure = undefined
    return backpressure
  }

  /** A layer answers the turn without the core, or after the core failed. */
  give(attempt: Attempt): unknown {
    const text = this.#layerAnswer ?? ''
    this.#transcript.addInput()
    this.#transcript.seal()
    this.#layerAnswer = undefined
    this.#output = text
    const sink = attempt.$sink as Sink
    const startsOver = !this.#isFollowed && (sink.used || this.outputSink.used)
    if (this.#isFollowed) {
      this.#commitShown()
      this.beginAnswer()
    } else if (startsOver) sink.reset()
    this.#on('give')
    this.#deliveredText = ''
    this.#streamedText = text
    this.#replace(text, startsOver)
    if (text !== '') this.#waitFor(sink.push({ type: 'text-delta', delta: text }))
    return this.release(attempt)
  }

  /** Stores late content of pipes after the last tools, before a layer that swallowed a failure adds its answer. */
  #commitShown(): void {
    const { shown, open } = this.outputSink
    if (this.#phase === 'separate' && !open && shown !== this.#deliveredText) this.#replace(shown)
  }

  /** The run was blocked. The answer is taken back and replaced with the reply, if there is one. */
  retract(reply: string | undefined): void {
    if (reply !== undefined) this.#transcript.addInput()
    // Text from before the tool calls had already passed all layers. It stays, and the reply is a separate answer.
    if (this.#isFollowed) this.beginAnswer()
    else if (this.outputSink.used) this.outputSink.reset()
    this.#output = reply ?? null
    if (reply !== undefined) void this.outputSink.push({ type: 'text-delta', delta: reply })
    this.#transcript.retract()
    this.#replace(reply ?? '')
  }

  /**
   * The run ended while a layer held. Removes the content that no reader has seen, for any end reason. Pairs of calls
   * and results stay.
   */
  dropUnseen(): void {
    this.#layerAnswer = undefined
    if (!this.#transcript.dropUnseen()) return
    this.#output = null
    this.#streamedText = this.#deliveredText = ''
    this.#on('begin')
  }

  /**
   * The run was cut off. The history gets the content that the reader has, also if the answer was passing through the
   * turn's layers.
   */
  cutOff(): void {
    const { assembly, shown } = this.outputSink
    this.#transcript.interrupt(shown)
    if (assembly === undefined || this.#phase === 'followed') return
    this.#transcript.replaceThoughts(assembly)
    this.#output = shown
  }

  #warnOfVoid(attempt: Attempt): void {
    const { $name: name } = attempt
    const what = `Layer "${name}" set ctx.output in the ${attempt.$call.ring.scope} scope, where the answer replaces it. Set it in a turn hook.`
    this.#turn.session.agent.warnOnce(`output:${name}`, what)
  }

  /** Returns whether the stream of this answer starts over. */
  #stream(attempt: Attempt, text: string): boolean {
    const sink = attempt.$sink as Sink
    const startsOver = !text.startsWith(this.#streamedText)
    if (startsOver && (this.#deliveredText !== '' || (sink.used && !sink.open))) {
      const error = mismatch(attempt, 'the output')
      this.#turn.lifecycle.fail(error)
      throw error
    }
    if (startsOver && sink.used) sink.reset()
    const delta = startsOver ? text : text.slice(this.#streamedText.length)
    this.#streamedText = text
    this.#waitFor(sink.push({ type: 'text-delta', delta }))
    return startsOver
  }

  #waitFor(backpressure: void | Promise<void>): void {
    if (backpressure === undefined) return
    this.#backpressure =
      this.#backpressure === undefined ? backpressure : Promise.all([this.#backpressure, backpressure]).then(() => {})
  }

  #on(event: AnswerEvent): void {
    this.#phase = transitions[this.#phase][event] ?? this.#phase
  }

  /** Calls `act` for each stage outward, from that of the innermost layer on, or from another one. */
  #eachStage(act: (stage: Stage) => void, from = this.sink): void {
    for (let sink = from; sink !== this.outputSink; sink = (sink as Stage).out) act(sink as Stage)
  }

  #replace(text: string, startsOver = false): void {
    this.#transcript.replaceText(text, this.outputSink.open, startsOver)
  }
}

export const noResponse = new Error('No model was called.')
