import { type Clock, digestOf, type Logger, type ToolExecution, wait } from '@allium/core'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type Answers, Dialogue, type Question } from './dialogue.ts'
import type { Sampling } from './sampling.ts'
import { optionalSchema, violation } from './schema.ts'
import type { Calls } from './toolbox.ts'

/** What a call waits with, for who decides. */
interface Asked extends Record<string, unknown> {
  reason: string
  question: Question
  /** Leads to the call that stays open at the server, in this process. */
  ticket: string
  /** What was answered in the same call before, by digests of the questions: for a process that has to call anew. */
  answered?: [question: string, answers: Answers][]
  /** What was wrong with the answers of before. */
  problem?: string
}

/** Runs calls at a server, and suspends those in which it asks something; they stay open at the server meanwhile. */
export class Dialogues {
  readonly #open = new Map<string, { readonly dialogue: Dialogue; readonly until: number }>()
  readonly #ended = new AbortController()
  readonly #name: string
  readonly #expiresIn: number
  readonly #clock: Clock

  readonly #logger: Logger
  readonly #sampling: Sampling | undefined

  constructor(
    name: string,
    expiresIn: number,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
    sampling: Sampling | undefined,
  ) {
    this.#sampling = sampling
    this.#logger = logger
    this.#name = name
    this.#expiresIn = expiresIn
    this.#clock = clock
  }

  /** Undefined: it waits for a human. */
  async run(calls: Calls, tool: string, args: Answers, ctx: ToolExecution): Promise<CallToolResult | undefined> {
    const asked = askedIn(ctx)
    if (asked === undefined || ctx.approval === undefined || !('approve' in ctx.approval)) {
      this.decline(ctx)
      return this.#go(this.#dialogue(calls, tool, args, ctx), ctx, [])
    }
    const given = withDefaults(asked.question, ctx.approval.data)
    const problem = await this.#problemOf(asked.question.schema, given)
    const open = this.#open.get(asked.ticket)
    if (problem !== undefined) {
      ctx.suspend({ ...asked, problem, expiresIn: this.#left(open?.until) })
      return undefined
    }
    const answers = given as Answers // it fits the schema
    const answered: Asked['answered'] = [...(asked.answered ?? []), [await digestOf(asked.question), answers]]
    this.#open.delete(asked.ticket)
    if (open === undefined || open.dialogue.over) return this.#go(this.#dialogue(calls, tool, args, ctx), ctx, answered)
    open.dialogue.answer(answers)
    return this.#go(open.dialogue, ctx, answered)
  }

  /** Where a call with a question is refused, or runs otherwise: the server is told. */
  decline(ctx: Pick<ToolExecution, 'asked'>): void {
    const ticket = askedIn(ctx)?.ticket ?? ''
    this.#open.get(ticket)?.dialogue.decline()
    this.#open.delete(ticket)
  }

  close(): void {
    this.#ended.abort()
    this.#open.clear()
  }

  #dialogue(calls: Calls, tool: string, args: Answers, { principal }: ToolExecution): Dialogue {
    return new Dialogue(calls, tool, args, { principal, sampling: this.#sampling })
  }

  async #go(
    dialogue: Dialogue,
    ctx: ToolExecution,
    answered: [string, Answers][],
  ): Promise<CallToolResult | undefined> {
    for (;;) {
      const turn = await dialogue.next(ctx)
      if ('result' in turn) return turn.result
      const print = await digestOf(turn.question)
      const known = answered.find(([question]) => question === print)
      // A server that asks the same again in one call gets the answer again: so does one that is called anew.
      if (known !== undefined) dialogue.answer(known[1])
      else return this.#suspend(dialogue, turn.question, ctx, answered)
    }
  }

  #suspend(dialogue: Dialogue, question: Question, ctx: ToolExecution, answered: [string, Answers][]): undefined {
    const ticket = crypto.randomUUID()
    const until = this.#clock.now() + this.#expiresIn
    this.#open.set(ticket, { dialogue, until })
    void this.#expire(ticket)
    const asked: Asked = { reason: `The MCP server "${this.#name}" asks: ${question.message}`, question, ticket }
    if (answered.length > 0) asked.answered = answered
    ctx.suspend({ ...asked, expiresIn: this.#expiresIn })
    return undefined
  }

  async #expire(ticket: string): Promise<void> {
    try {
      await wait(this.#expiresIn, this.#clock, this.#ended.signal, { idle: true })
    } catch {
      return // closed
    }
    this.#open.get(ticket)?.dialogue.decline()
    this.#open.delete(ticket)
  }

  /** How answers break the schema of the question. A schema that is too large takes no answer. */
  async #problemOf(schema: Question['schema'], answers: unknown): Promise<string | undefined> {
    if (typeof answers !== 'object' || answers === null || Array.isArray(answers))
      return 'The answers are not an object. Give them as data, { name: value }.'
    const read = optionalSchema(schema, `The schema of a question of the MCP server "${this.#name}"`, this.#logger)
    if (read === undefined) return 'The schema of the question is too large to be checked. Deny the call.'
    return violation(read, answers)
  }

  #left(until: number | undefined): number {
    return until === undefined ? this.#expiresIn : Math.max(1, until - this.#clock.now())
  }
}

/** What was asked by the tool itself; a layer's request is the layer's. */
function askedIn({ asked }: Pick<ToolExecution, 'asked'>): Asked | undefined {
  if (asked === undefined || asked.by !== undefined) return undefined
  return typeof asked.request.ticket === 'string' ? (asked.request as Asked) : undefined
}

/** Answers that are left out are those that the server proposes. */
function withDefaults({ schema }: Question, given: unknown = {}): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const fields = Object.entries((schema.properties ?? {}) as Record<string, { default?: unknown }>)
  const proposed = fields
    .filter(([, field]) => field.default !== undefined)
    .map(([name, field]) => [name, field.default])
  return { ...Object.fromEntries(proposed), ...given }
}
