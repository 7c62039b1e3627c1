import { AlliumError, type ToolExecution } from '@allium/core'
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Calls } from './callers.ts'
import {
  type Answers,
  type Continuation,
  type InputNeeded,
  type InputRequest,
  isInputNeeded,
  isStorable,
  type Question,
  questionOf,
} from './question.ts'
import type { Sampling } from './sampling.ts'

/** A call to a tool. */
export interface Invocation {
  readonly calls: Calls
  readonly tool: Tool
  readonly args: Answers
  readonly ctx: ToolExecution
}

/** What a server needs before a call can go on, and what it got so far. It is stored with the session. */
export interface Round extends Continuation {
  /** The open questions. The first one is asked. */
  readonly questions: readonly (readonly [key: string, question: Question])[]
  /** The rounds of this call. */
  readonly count: number
  /** The model's answers in this call. */
  readonly samples: number
}

export type Outcome = { readonly result: CallToolResult } | { readonly round: Round }

/**
 * Runs the rounds of a call in revision 2026-07-28: the server answers with what it needs, and gets it with the same call again.
 * Nothing is open between two rounds, so any process can run the next one.
 */
export class Rounds {
  readonly #name: string
  readonly #sampling: Sampling | undefined
  readonly #canElicit: boolean

  constructor(name: string, sampling: Sampling | undefined, canElicit: boolean) {
    this.#name = name
    this.#sampling = sampling
    this.#canElicit = canElicit
  }

  /** Returns the result, or a round with a question for a human. */
  async run(needed: InputNeeded, invocation: Invocation, before = firstRound): Promise<Outcome> {
    const round = await this.#roundOf(needed, invocation.ctx, before)
    return round.questions.length > 0 ? { round } : this.#send(round, invocation)
  }

  /** Answers the first question of a round. */
  async answer(round: Round, content: Answers, invocation: Invocation): Promise<Outcome> {
    const [asked, ...questions] = round.questions
    const inputResponses = { ...round.inputResponses, ...(asked && { [asked[0]]: { action: 'accept', content } }) }
    const next = { ...round, questions, inputResponses }
    return questions.length > 0 ? { round: next } : this.#send(next, invocation)
  }

  async #send(round: Round, invocation: Invocation): Promise<Outcome> {
    const { calls, tool, args, ctx } = invocation
    const { inputResponses, requestState, taskId } = round
    const { signal, principal } = ctx
    const result = await calls.call(tool, args, {
      signal,
      principal,
      goOn: { inputResponses, requestState, taskId },
    })
    return isInputNeeded(result) ? this.run(result, invocation, round) : { result }
  }

  async #roundOf(needed: InputNeeded, ctx: ToolExecution, before: Counts): Promise<Round> {
    const { inputRequests, requestState, taskId } = needed
    if (before.count >= maxRounds) throw this.#refused(`needs input more than ${maxRounds} times`)
    if (!isStorable(needed)) throw this.#refused('sent a question that is too long')
    const questions: (readonly [string, Question])[] = []
    const inputResponses: Record<string, unknown> = {}
    let { samples } = before
    for (const [key, request] of Object.entries(inputRequests)) {
      const form = request.method === 'elicitation/create' && this.#canElicit ? request.form : undefined
      if (form !== undefined) questions.push([key, questionOf(form)])
      else inputResponses[key] = await this.#answerOf(request, ctx, ++samples)
    }
    return { requestState, taskId, questions, inputResponses, samples, count: before.count + 1 }
  }

  /** Answers without a human. */
  async #answerOf(request: InputRequest, ctx: ToolExecution, nth: number): Promise<unknown> {
    if (request.method === 'elicitation/create') return { action: 'decline' }
    if (this.#sampling === undefined)
      throw this.#refused('asked for an answer of the model, which the layer does not allow')
    return this.#sampling.answer(ctx, request.params, nth)
  }

  #refused(reason: string): AlliumError {
    const details = { server: this.#name }
    return new AlliumError('mcp.refused', `The MCP server "${this.#name}" ${reason}.`, { expose: true, details })
  }
}

type Counts = Pick<Round, 'count' | 'samples'>
const firstRound: Counts = { count: 0, samples: 0 }
/** A server that only sends its state asks for another round without a human. */
const maxRounds = 20
