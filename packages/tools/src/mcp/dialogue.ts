import { AlliumError, followSignal, type ToolExecution } from '@allium/core'
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Calls } from './callers.ts'
import type { Answers, InputNeeded, Question, Reply } from './question.ts'
import type { Sampling, SamplingRequest } from './sampling.ts'

interface Finished {
  readonly result: CallToolResult | InputNeeded
}

/** A call to a server that may ask questions before it returns its result. */
export class Dialogue {
  /** Whether it has a result or has failed. */
  isDone = false
  readonly #cancel = new AbortController()
  readonly #result: Promise<Finished>
  readonly #questions: { readonly question: Question; readonly reply: (reply: Reply) => void }[] = []
  #onQuestion = () => {}
  #sampleCount = 0
  /** The context of the run that contains the call; undefined while the call waits. */
  #ctx: ToolExecution | undefined

  constructor(
    calls: Calls,
    tool: Tool,
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
      throw new AlliumError('mcp.refused', 'No active run can answer this sampling request.')
    }
    const call = calls.call(tool, args, { signal: this.#cancel.signal, principal, ask, sample })
    this.#result = call.then((result) => ({ result })).finally(() => (this.isDone = true))
    // A failure may have no other handler yet.
    this.#result.catch(() => {})
  }

  /** Returns the result, or the question that must be answered first. An abort cancels the call. */
  async next(ctx: ToolExecution): Promise<Finished | { readonly question: Question }> {
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

  /** Declines all open questions. The result of the call is ignored. */
  decline(): void {
    for (const { reply } of this.#questions.splice(0)) reply({ action: 'decline' })
  }
}
