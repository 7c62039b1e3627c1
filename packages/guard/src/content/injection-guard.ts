import type { Message, ModelContext, ModelResponse, ToolContext, ToolResult, TurnView } from '@allium/core'
import { applyApproval } from '../rules/apply-approval.ts'
import type { FailurePolicy } from '../rules/failure-options.ts'
import { blockOptions } from '../rules/guard-codes.ts'
import { emitFound, type GuardTarget } from '../rules/guard-found.ts'
import { runCheck } from '../rules/run-check.ts'
import { matchesToolName } from '../rules/tool-names.ts'
import { textOf } from '../text/text-of.ts'
import { UntrustedMarks } from './untrusted-marks.ts'

/** Returns how much a text looks like an attempt to override the model's instructions, from 0 to 1. */
export type InjectionDetector = (text: string, signal: AbortSignal) => number | Promise<number>

type State = Record<string, unknown>

interface InjectionSettings {
  readonly guard: FailurePolicy
  readonly detectors: readonly InjectionDetector[]
  readonly threshold: number
  readonly onInput: 'block' | 'pass'
  readonly onToolResult: 'mark' | 'withhold' | 'block'
  readonly trusted: readonly string[]
  readonly privileged: readonly string[]
  /** Returns the secret that marks are derived from. */
  secretOf(ctx: TurnView<State>): string
}

/** Scores the texts of a session, and keeps in its state whether untrusted text has entered. */
export class InjectionGuard {
  readonly #settings: InjectionSettings
  readonly #scoreKey: string
  readonly #untrustedKey: string
  readonly #suspectsKey: string
  readonly #marks: UntrustedMarks

  constructor(settings: InjectionSettings) {
    const { name } = settings.guard
    this.#settings = settings
    this.#scoreKey = `${name}:score`
    this.#untrustedKey = `${name}:untrusted`
    this.#suspectsKey = `${name}:suspects`
    this.#marks = new UntrustedMarks(settings.trusted, settings.secretOf)
  }

  /** The fields of the layer's state. */
  get state() {
    return {
      [this.#scoreKey]: {
        default: 0,
        reducer: (highest: unknown, score: unknown) => Math.max(highest as number, score as number),
        scope: 'turn' as const,
      },
      [this.#untrustedKey]: { default: false },
      [this.#suspectsKey]: {
        default: [],
        reducer: (suspectIds: unknown, more: unknown) => [...(suspectIds as string[]), ...(more as string[])],
      },
    }
  }

  async checkInput(ctx: TurnView<State>, message: Message): Promise<void> {
    await this.#isAttack(ctx, message, 'input', this.#settings.onInput, 'the input')
  }

  /** Marks the results in a request, and explains the marks. */
  async markRequest(ctx: ModelContext<State>): Promise<void> {
    const isUntrusted = this.#isUntrusted(ctx)
    if (isUntrusted) await this.#marks.markResults(ctx, ctx.state[this.#suspectsKey] as string[])
    // From the first call on, because a message that comes later would make the provider's prompt cache useless.
    if (isUntrusted || ctx.toolDefs.some(({ name }) => !this.#isTrusted(name))) await this.#marks.explain(ctx)
  }

  /** Tools that the provider runs itself, such as its search, bring in text without a call of the tool layers. */
  addProviderResults(ctx: ModelContext<State>, { message: { content } }: ModelResponse): void {
    if (this.#isUntrusted(ctx) || typeof content === 'string') return
    if (content.some((part) => part.type === 'tool-result' && !this.#isTrusted(part.name)))
      ctx.state[this.#untrustedKey] = true
  }

  /** Asks for the approval of a privileged call after untrusted text. Returns undefined if the call may run. */
  askBefore(ctx: ToolContext<State>): ToolResult | undefined {
    const { name } = ctx.tool
    if (!this.#isUntrusted(ctx) || !matchesToolName(this.#settings.privileged, name)) return undefined
    if (ctx.approval === undefined)
      return ctx.suspend({
        reason: `The tool "${name}" needs an approval: a tool has brought text from outside, which may have asked for this.`,
      })
    const denial = applyApproval(ctx, ctx.approval)
    if (denial === undefined) ctx.approve()
    return denial
  }

  /** Returns the result, or what replaces a result that looks like an attack. */
  async checkResult(ctx: ToolContext<State>, result: ToolResult) {
    const { name } = ctx.tool
    if (this.#isTrusted(name)) return result
    ctx.state[this.#untrustedKey] = true
    const { onToolResult } = this.#settings
    if (!(await this.#isAttack(ctx, result, 'toolResults', onToolResult, `the result of "${name}"`))) return result
    ctx.state[this.#suspectsKey] = [ctx.callId]
    if (onToolResult === 'mark') return result
    return { content: `The result of "${name}" looked like an attack and is withheld.`, isError: true }
  }

  #isUntrusted({ state }: TurnView<State>): boolean {
    return state[this.#untrustedKey] === true
  }

  #isTrusted(tool: string): boolean {
    return matchesToolName(this.#settings.trusted, tool)
  }

  /** Whether a text looks like an attack. Reports one, and blocks the turn if that is the action. */
  async #isAttack(
    ctx: TurnView<State>,
    text: Pick<Message, 'content'>,
    where: GuardTarget,
    action: string,
    what: string,
  ): Promise<boolean> {
    const { guard, threshold } = this.#settings
    const score = await this.#score(ctx, textOf([text]))
    if (score < threshold) return false
    emitFound(ctx, { layer: guard.name, where, found: 'injection', action })
    if (action === 'block')
      ctx.block(`"${guard.name}" took ${what} for an attack (score ${score}).`, blockOptions('guard.injection', guard))
    return true
  }

  async #score(ctx: TurnView<State>, text: string): Promise<number> {
    if (text === '') return 0
    const { guard, detectors } = this.#settings
    const score = await runCheck(ctx, guard, ({ signal }) => {
      const scores = detectors.map((detector) => detector(text, signal))
      return scores.every(isNumber) ? maxScore(scores) : Promise.all(scores).then(maxScore)
    })
    ctx.state[this.#scoreKey] = score ?? 0
    return score ?? 0
  }
}

function isNumber(score: number | Promise<number>): score is number {
  return typeof score === 'number'
}

/** @throws RangeError for an invalid score */
function maxScore(scores: readonly number[]): number {
  if (scores.every((score) => score >= 0 && score <= 1)) return Math.max(0, ...scores)
  throw new RangeError(`a detector returned ${scores}, which is not a score from 0 to 1`)
}
