import { type Clock, delay, type Logger, type ToolExecution } from '@allium/core'
import { type ApprovalRequest, approvalRequestOf } from '@allium/core/context'
import { digestOf } from '@allium/core/internal'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { Dialogue } from './dialogue.ts'
import { type Answers, isInputNeeded, type Question } from './question.ts'
import { type Invocation, type Outcome, type Round, Rounds } from './rounds.ts'
import type { Sampling } from './sampling.ts'
import { optionalSchema, violation } from './schema.ts'

/** The stored data of a pending question, for the approver. */
interface PendingQuestion extends Record<string, unknown> {
  reason: string
  question: Question
  /** Identifies the open call in this process. */
  ticket: string
  /** Earlier answers in the same call, by digests of the questions, for a process that must repeat the call. */
  answered?: [question: string, answers: Answers][]
  /** What the server needs, in revision 2026-07-28. Nothing is open there then. */
  round?: Round
  /** The problem with the previous answers. */
  problem?: string
}

/**
 * Runs calls to a server, and suspends those with an open question. In revision 2025-11-25 they stay open at the server meanwhile; in
 * 2026-07-28 the question has what the next call needs.
 */
export class Dialogues {
  readonly #openCalls = new Map<string, { readonly dialogue: Dialogue; readonly deadline: number }>()
  readonly #closed = new AbortController()
  readonly #name: string
  readonly #expiresIn: number
  readonly #canElicit: boolean
  readonly #clock: Clock

  readonly #logger: Logger
  readonly #sampling: Sampling | undefined

  constructor(
    name: string,
    { expiresIn, canElicit }: { readonly expiresIn: number; readonly canElicit: boolean },
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
    sampling: Sampling | undefined,
  ) {
    this.#sampling = sampling
    this.#logger = logger
    this.#name = name
    this.#expiresIn = expiresIn
    this.#canElicit = canElicit
    this.#clock = clock
  }

  /** Returns undefined when the call waits for a human. */
  async run(call: Invocation, request = approvalRequestOf(call.ctx)): Promise<CallToolResult | undefined> {
    const { ctx } = call
    const pendingQuestion = pendingQuestionOf(request)
    if (pendingQuestion === undefined || ctx.approval === undefined || !('approve' in ctx.approval)) {
      this.decline(request)
      return this.#advance(this.#dialogue(call), call, [])
    }
    const proposedAnswers = withDefaults(pendingQuestion.question, ctx.approval.data)
    const problem = await this.#problemOf(pendingQuestion.question.schema, proposedAnswers)
    const open = this.#openCalls.get(pendingQuestion.ticket)
    if (problem !== undefined) {
      ctx.suspend({ ...pendingQuestion, problem, expiresIn: this.#remaining(open?.deadline) })
      return undefined
    }
    const answers = proposedAnswers as Answers // it fits the schema
    if (pendingQuestion.round !== undefined) {
      const { round } = pendingQuestion
      return this.#afterRound(await this.#rounds().answer(round, answers, call), ctx)
    }
    const answered: PendingQuestion['answered'] = [
      ...(pendingQuestion.answered ?? []),
      [await digestOf(pendingQuestion.question), answers],
    ]
    this.#openCalls.delete(pendingQuestion.ticket)
    if (open === undefined || open.dialogue.isDone) return this.#advance(this.#dialogue(call), call, answered)
    open.dialogue.answer(answers)
    return this.#advance(open.dialogue, call, answered)
  }

  /** Declines the open question if its call is denied, or runs in another way. */
  decline(request: ApprovalRequest | undefined): void {
    const ticket = pendingQuestionOf(request)?.ticket ?? ''
    this.#openCalls.get(ticket)?.dialogue.decline()
    this.#openCalls.delete(ticket)
  }

  close(): void {
    this.#closed.abort()
    this.#openCalls.clear()
  }

  #dialogue({ calls, tool, args, ctx }: Invocation): Dialogue {
    return new Dialogue(calls, tool, args, { principal: ctx.principal, sampling: this.#sampling })
  }

  async #advance(
    dialogue: Dialogue,
    call: Invocation,
    answered: [string, Answers][],
  ): Promise<CallToolResult | undefined> {
    const { ctx } = call
    for (;;) {
      const turn = await dialogue.next(ctx)
      if ('result' in turn) {
        const { result } = turn
        return isInputNeeded(result) ? this.#afterRound(await this.#rounds().run(result, call), ctx) : result
      }
      const digest = await digestOf(turn.question)
      const previousAnswer = answered.find(([question]) => question === digest)
      // Repeats the answer if the server asks the same question again, as it does when the call is repeated.
      if (previousAnswer !== undefined) dialogue.answer(previousAnswer[1])
      else return this.#suspend(dialogue, turn.question, ctx, answered)
    }
  }

  #rounds(): Rounds {
    return new Rounds(this.#name, this.#sampling, this.#canElicit)
  }

  /** Suspends a call with an open question. */
  #afterRound(outcome: Outcome, ctx: ToolExecution): CallToolResult | undefined {
    if ('result' in outcome) return outcome.result
    const { round } = outcome
    const [, question] = round.questions[0] as Round['questions'][number]
    const reason = this.#reasonOf(question)
    ctx.suspend({ reason, question, ticket: crypto.randomUUID(), round, expiresIn: this.#expiresIn })
    return undefined
  }

  #reasonOf({ message }: Question): string {
    return `The MCP server "${this.#name}" asks: ${message}`
  }

  #suspend(dialogue: Dialogue, question: Question, ctx: ToolExecution, answered: [string, Answers][]): undefined {
    const ticket = crypto.randomUUID()
    const deadline = this.#clock.now() + this.#expiresIn
    this.#openCalls.set(ticket, { dialogue, deadline })
    void this.#expire(ticket)
    const pendingQuestion: PendingQuestion = {
      reason: this.#reasonOf(question),
      question,
      ticket,
    }
    if (answered.length > 0) pendingQuestion.answered = answered
    ctx.suspend({ ...pendingQuestion, expiresIn: this.#expiresIn })
    return undefined
  }

  async #expire(ticket: string): Promise<void> {
    try {
      await delay(this.#expiresIn, this.#clock, this.#closed.signal, { idle: true })
    } catch {
      return // closed
    }
    this.#openCalls.get(ticket)?.dialogue.decline()
    this.#openCalls.delete(ticket)
  }

  /** Returns how answers violate the schema of the question. A schema that is too large accepts no answer. */
  async #problemOf(schema: Question['schema'], answers: unknown): Promise<string | undefined> {
    if (typeof answers !== 'object' || answers === null || Array.isArray(answers))
      return 'The answers are not an object. Give them as data, { name: value }.'
    const read = await optionalSchema(
      schema,
      `The schema of a question of the MCP server "${this.#name}"`,
      this.#logger,
    )
    if (read === undefined) return 'The schema of the question is too large to be checked. Deny the call.'
    return violation(read, answers)
  }

  #remaining(deadline: number | undefined): number {
    return deadline === undefined ? this.#expiresIn : Math.max(1, deadline - this.#clock.now())
  }
}

/** Returns the question if the tool itself asked it, and not a layer. */
function pendingQuestionOf(approval: ApprovalRequest | undefined): PendingQuestion | undefined {
  if (approval === undefined || approval.by !== undefined) return undefined
  return typeof approval.request.ticket === 'string' ? (approval.request as PendingQuestion) : undefined
}

/** Fills missing answers with the server's defaults. */
function withDefaults({ schema }: Question, given: unknown = {}): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const fields = Object.entries((schema.properties ?? {}) as Record<string, { default?: unknown }>)
  const proposed = fields
    .filter(([, field]) => field.default !== undefined)
    .map(([name, field]) => [name, field.default])
  return { ...Object.fromEntries(proposed), ...given }
}
