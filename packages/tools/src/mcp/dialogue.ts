import { AlliumError, followSignal, type JsonSchema, type ToolExecution } from '@allium/core'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Sampling, SamplingRequest } from './sampling.ts'
import type { Calls } from './toolbox.ts'

/** What a server asks in the middle of a call. */
export interface Question {
  readonly message: string
  /** Of the answers, an object. */
  readonly schema: JsonSchema
}

export type Answers = Record<string, unknown>
/** What a server gets: answers, or that there are none. */
export type Reply = { action: 'accept'; content: Answers } | { action: 'decline' }

/** A call at a server, which may be asked for something before it has its result. */
export class Dialogue {
  /** It has its result, or will have none. */
  isDone = false
  readonly #cancel = new AbortController()
  readonly #result: Promise<{ readonly result: CallToolResult }>
  readonly #questions: { readonly question: Question; readonly reply: (reply: Reply) => void }[] = []
  #onQuestion = () => {}
  #sampleCount = 0
  /** Of the run that the call is in; undefined while it waits. */
  #ctx: ToolExecution | undefined

  constructor(
    calls: Calls,
    name: string,
    args: Record<string, unknown>,
    { principal, sampling }: { principal: unknown; sampling: Sampling | undefined },
  ) {
    const ask = (question: Question) =>
      new Promise<Reply>((reply) => {
        this.#questions.push({ question, reply })
        this.#onQuestion()
      })
    const sample = (request: SamplingRequest) => {
      if (this.#ctx !== undefined && sampling !== undefined)
        return sampling.answer(this.#ctx, request, ++this.#sampleCount)
      throw new AlliumError('mcp.refused', 'No run is there for which the model could answer.')
    }
    const result = calls.call(name, args, { signal: this.#cancel.signal, principal, ask, sample })
    this.#result = result.then((result) => ({ result })).finally(() => (this.isDone = true))
    // Nobody may be listening when it fails.
    this.#result.catch(() => {})
  }

  /** Its result, or the question that must be answered first. An abort cancels it. */
  async next(ctx: ToolExecution): Promise<{ readonly result: CallToolResult } | { readonly question: Question }> {
    const { signal } = ctx
    this.#ctx = ctx
    const release = followSignal(signal, () => this.#cancel.abort(signal.reason))
    try {
      const question = new Promise<void>((resolve) => {
        this.#onQuestion = resolve
        if (this.#questions.length > 0) resolve()
      }).then(() => this.#questions[0] as { question: Question })
      return await Promise.race([this.#result, question])
    } finally {
      release()
      this.#ctx = undefined
    }
  }

  answer(content: Answers): void {
    this.#questions.shift()?.reply({ action: 'accept', content })
  }

  /** Tells the server that nobody answers; what comes of the call is nobody's any more. */
  decline(): void {
    for (const { reply } of this.#questions.splice(0)) reply({ action: 'decline' })
  }
}
