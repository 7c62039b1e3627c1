import { describe } from '../../errors/describe.ts'
import type { Message, Part } from '../../messages/message.ts'
import type { FinishChunk } from '../../model/chunk.ts'
import type { ModelResponse } from '../../model/response.ts'
import { layerError } from '../../onion/misuse.ts'
import type { Frame } from '../../onion/next.ts'
import { Phase } from '../../onion/next.ts'
import { after } from '../../onion/thenable.ts'
import type { Sink } from '../../stream/sink.ts'
import type { Stage } from '../../stream/stage.ts'
import { Outlet } from './outlet.ts'
import { mismatch, streamOf } from './stream-verbs.ts'
import type { TurnScope } from './turn-scope.ts'

/** The answer of a turn on its way outward: keeps the stream, the history and `ctx.output` in agreement. */
export class Answer {
  readonly outlet: Outlet
  /** What the model calls of the turn send into: the stage of the innermost turn layer, or the outlet. */
  sink: Sink
  /** The input is in the history: the core was entered. */
  begun = false
  #complete = false
  #output: string | null = null
  /** The text of the answer in the stream at the present place of the onion. */
  #said = ''
  /** The part of it that had left all layers before the present answer began. */
  #flushed = ''
  /** The assistant message that holds the answer. */
  #at: number | undefined
  #wait: Promise<void> | undefined
  #finish: FinishChunk | undefined
  #stepEnds = false
  /** The answer asked for tools: it stands in the history, and what follows is another one. */
  #askedForTools = false
  readonly #turn: TurnScope

  constructor(turn: TurnScope) {
    this.#turn = turn
    this.outlet = new Outlet(turn)
    this.sink = this.outlet
  }

  get output(): string | null {
    return this.#output
  }
  /** An output was set that no core has produced. */
  get pending(): boolean {
    return this.#output !== null && !this.#complete
  }

  /** The core begins: the input enters the history, what was set before is void. */
  begin(): void {
    this.#output = null
    this.#takeInput()
  }

  /** A model call begins: its answer is a new one for every layer of the turn. */
  beginCall(): void {
    for (let sink = this.sink; sink !== this.outlet; sink = (sink as Stage).out) (sink as Stage).begin()
    this.outlet.begin()
    this.#at = undefined
    this.#said = ''
    this.#flushed = ''
    this.#askedForTools = false
  }

  /** Whether the layers of the turn must let go of an answer before its tools run. The last answer they end as they return. */
  flushes(response: ModelResponse): boolean {
    return this.sink !== this.outlet && response.toolCalls.length > 0
  }

  /** The answer as it left the outermost layer of the turn. */
  async flush(response: ModelResponse): Promise<ModelResponse> {
    let stage = this.sink as Stage
    for (; ; stage = stage.out as Stage) {
      await stage.end()
      if (stage.out === this.outlet) break
    }
    const { assembly } = stage
    const toolCalls = assembly.toolCalls()
    return { ...response, text: assembly.text, toolCalls, message: assembly.message(toolCalls) }
  }

  /** The finish of a call goes round the layers, behind all they still hold back. */
  finish(chunk: FinishChunk, flushed: boolean): void {
    if (flushed || this.sink === this.outlet) void this.outlet.send(chunk)
    else this.#finish = chunk
  }

  /** The step has ended; the last one when the layers have let go of its answer. */
  endStep(): void {
    if (this.#finish === undefined) this.#turn.tellStep('step:end')
    else this.#stepEnds = true
  }

  /** Every layer has returned. */
  seal(): void {
    if (this.#finish !== undefined) void this.outlet.send(this.#finish)
    if (this.#stepEnds) this.#turn.tellStep('step:end')
    this.#finish = undefined
    this.#stepEnds = false
  }

  /** What was shown of an answer that is not in the history. */
  get unfinished(): string {
    return this.#at === undefined && !this.#complete ? this.outlet.shown : ''
  }

  /** The message of a step is in the history. */
  committed(text: string, at: number | undefined, flushed: boolean): void {
    this.#said = text
    this.#flushed = flushed ? text : ''
    this.#askedForTools = flushed
    this.#at = at
  }

  /** The loop has ended. After tools, what a layer still says begins in fresh pipes, and behind the results. */
  complete(): void {
    this.#complete = true
    this.#output = this.#said
    if (!this.#askedForTools) return
    if (this.#said === '') this.#at = undefined
    for (let sink = this.sink; sink !== this.outlet; sink = (sink as Stage).out) (sink as Stage).begin()
  }

  /** ctx.output = text, by a layer. */
  set(frame: Frame, text: unknown): void {
    if (typeof text !== 'string')
      throw layerError(frame, 'layer.result', `set ctx.output to ${describe(text)}. It takes a text.`)
    if (!this.#complete || text === this.#output) {
      this.#output = text
      if (frame.passage !== this.#turn) this.#warnOfVoid(frame)
      return
    }
    if (this.#turn.waits)
      throw layerError(
        frame,
        'layer.result',
        'set ctx.output while tool calls wait for a decision. Set it when the turn is resumed and has its answer.',
      )
    this.#stream(frame, text)
    this.#output = text
    this.#replace(text)
  }

  /** The layers inside a stage have returned: what its pipes held back is part of the answer. */
  leave(stage: Stage): unknown {
    return after(stage.end(), () => {
      this.sink = stage.out
      const text = this.#flushed + stage.assembly.text
      if (text === this.#said) return
      this.#said = this.#output = text
      this.#replace(text)
    })
  }

  /** A layer returns after the core: what it held goes on. */
  release(frame: Frame): unknown {
    if (streamOf(frame)?.transforms.hold === true) this.outlet.release()
    const wait = this.#wait
    this.#wait = undefined
    return wait
  }

  /** A layer answers the turn by itself: without the core, or after it failed. */
  give(frame: Frame): unknown {
    const text = this.#output ?? ''
    this.#takeInput()
    this.#turn.seal()
    if (this.#askedForTools) this.beginCall()
    else if (frame.phase === Phase.failed && this.sink.used) this.sink.reset()
    this.#complete = true
    this.#said = text
    this.#replace(text)
    return text === '' ? undefined : this.sink.push({ type: 'text-delta', delta: text })
  }

  /** The run was blocked: what was said is taken back, and the reply, if any, said instead. */
  retract(reply: string | undefined): void {
    if (reply !== undefined) this.#takeInput()
    if (this.#askedForTools && !this.#complete) this.beginCall()
    else if (this.outlet.used) this.outlet.reset()
    this.#output = reply ?? null
    if (reply !== undefined) void this.outlet.push({ type: 'text-delta', delta: reply })
    this.#replace(reply ?? '')
  }

  /** Inside the core the answer is still to come, and takes the place of what was set. */
  #warnOfVoid({ hook, passage }: Frame): void {
    const what = `Layer "${hook.name}" set ctx.output in the ${passage.scope} scope, where the answer replaces it. Set it in a turn hook.`
    this.#turn.session.agent.warnOnce(`output:${hook.name}`, what)
  }

  #stream(frame: Frame, text: string): void {
    let rest = text.slice(this.#said.length)
    if (!text.startsWith(this.#said)) {
      if (this.#flushed !== '' || (this.sink.used && !this.sink.open)) {
        const error = mismatch(frame, 'the output')
        this.#turn.fail(error)
        throw error
      }
      if (this.sink.used) this.sink.reset()
      rest = text
    }
    this.#said = text
    const wait = this.sink.push({ type: 'text-delta', delta: rest })
    if (wait !== undefined)
      this.#wait = this.#wait === undefined ? wait : Promise.all([this.#wait, wait]).then(() => {})
  }

  #takeInput(): void {
    if (this.begun) return
    this.begun = true
    this.#turn.session.history.push(this.#turn.input)
  }

  #replace(text: string): void {
    const { history } = this.#turn.session
    const old = this.#at === undefined ? undefined : history.items[this.#at]
    if (old === undefined || this.#at === undefined) {
      if (text === '') return
      history.append({ role: 'assistant', content: text })
      this.#at = history.items.length - 1
      return
    }
    const message = withText(old, text)
    history.replace(this.#at, message)
    if (message === undefined) this.#at = undefined
  }
}

/** The message with another text; undefined where nothing is left of it. */
function withText(message: Message, text: string): Message | undefined {
  if (typeof message.content === 'string') return text === '' ? undefined : { ...message, content: text }
  const at = message.content.findIndex((part) => part.type === 'text')
  const content: Part[] = message.content.filter((part) => part.type !== 'text')
  const part: Part = { type: 'text', text }
  if (text !== '') content.splice(at < 0 ? content.length : Math.min(at, content.length), 0, part)
  return content.length === 0 ? undefined : { ...message, content }
}
