import {
  AlliumError,
  defineMiddleware,
  isBlockError,
  type Message,
  type ModelContext,
  type ModelResponse,
  messageOf,
  type NextFor,
} from '@allium/core'
import type { ResolvedCompactOptions } from './compact-options.ts'
import { summaryRequest } from './summary.ts'

type SummariserOptions = Pick<
  ResolvedCompactOptions<string>,
  'as' | 'model' | 'instructions' | 'maxSummaryTokens' | 'timeout'
>

/** The data of one attempt of the asking layer. It is separate per attempt, because an abandoned one may end late. */
export interface SummaryAttempt {
  running: boolean
  text: string
  /** Reports that are emitted when the attempt continues. An abandoned attempt emits none. */
  readonly deferredReports: (() => void)[]
}

/**
 * Makes summaries with a call through the inner layers. A separate layer sets the model for that call, so that the asking layer
 * keeps its own.
 */
export class Summariser {
  readonly #options: SummariserOptions
  /** By the turn's scratch record. Only a live attempt enters a layer, so the last one that entered encloses the next layer. */
  readonly #currentAttempts = new WeakMap<object, SummaryAttempt>()
  readonly #failedTurns = new WeakSet<object>()

  constructor(options: SummariserOptions) {
    this.#options = options
  }

  /** Creates the layer that sets the model of summaries. */
  createLayer() {
    return defineMiddleware({
      name: `${this.#options.as}:call`,
      order: { is: ['shapes'] },
      model: (ctx, next) => this.#enter(ctx, next),
    })
  }

  /** Must be called as soon as the asking layer is entered. */
  begin({ metadata }: Pick<ModelContext, 'metadata'>): SummaryAttempt {
    const attempt: SummaryAttempt = { running: false, text: '', deferredReports: [] }
    this.#currentAttempts.set(metadata, attempt)
    return attempt
  }

  /** Returns undefined if summarising fails; after a failure the turn does not try again. */
  async summarise<S>(
    ctx: ModelContext<S>,
    next: NextFor<ModelResponse>,
    attempt: SummaryAttempt,
    { before, conversation }: { before: string; conversation: readonly Readonly<Message>[] },
  ): Promise<string | undefined> {
    if (this.#failedTurns.has(ctx.metadata)) return undefined
    const { as, instructions } = this.#options
    const { tools, settings, toolChoice, responseFormat } = ctx.request
    ctx.onChunk(() => (attempt.running ? null : undefined))
    attempt.running = true
    try {
      ctx.messages = summaryRequest(instructions, before, conversation)
      return await this.#callModel(ctx, next, attempt)
    } catch (error) {
      if (ctx.signal.aborted || isBlockError(error)) throw error
      attempt.deferredReports.push(() => {
        this.#failedTurns.add(ctx.metadata)
        ctx.logger.warn(`"${as}" could not summarize, so older messages are left out: ${messageOf(error)}`, { error })
      })
      return undefined
    } finally {
      attempt.running = false
      ctx.toolDefs = [...tools]
      ctx.toolChoice = toolChoice
      ctx.responseFormat = responseFormat
      ctx.settings = settings
    }
  }

  /** Makes the call without tools, as text, and returns its text. */
  async #callModel<S>(ctx: ModelContext<S>, next: NextFor<ModelResponse>, attempt: SummaryAttempt): Promise<string> {
    const { as, maxSummaryTokens, timeout } = this.#options
    const { headers } = ctx.request.settings
    const controller = new AbortController()
    const stopTimer = ctx.clock.after(timeout, () =>
      controller.abort(new AlliumError('layer.timeout', `The summary of "${as}" took longer than ${timeout} ms.`)),
    )
    try {
      ctx.toolDefs = []
      ctx.toolChoice = 'auto'
      ctx.responseFormat = { type: 'text' }
      ctx.settings = { maxOutputTokens: maxSummaryTokens, ...(headers && { headers }) }
      await next({ signal: controller.signal })
    } finally {
      stopTimer()
    }
    const text = attempt.text.trim()
    if (text === '') throw new AlliumError('model.failed', 'The model returned an empty summary.')
    return text
  }

  async #enter(ctx: ModelContext, next: NextFor<ModelResponse>): Promise<ModelResponse> {
    const attempt = this.#currentAttempts.get(ctx.metadata)
    if (attempt === undefined) return next()
    for (const report of attempt.deferredReports.splice(0)) report()
    if (!attempt.running) return next()
    const { model } = this.#options
    if (model !== undefined) ctx.setModel(model)
    const response = await next()
    attempt.text = response.text
    return response
  }
}
