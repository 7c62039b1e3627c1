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

type SummariserOptions = Pick<ResolvedCompactOptions<string>, 'as' | 'model' | 'prompt' | 'summaryTokens' | 'timeout'>

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
export function summariser({ as, model, prompt, summaryTokens, timeout }: SummariserOptions) {
  /** By the turn's scratch record. Only a live attempt enters a layer, so the last one that entered encloses the next layer. */
  const currentAttempts = new WeakMap<object, SummaryAttempt>()
  const failedTurns = new WeakSet<object>()

  const layer = defineMiddleware({
    name: `${as}:call`,
    order: { is: ['shapes'] },
    async model(ctx, next) {
      const attempt = currentAttempts.get(ctx.metadata)
      if (attempt === undefined) return next()
      for (const report of attempt.deferredReports.splice(0)) report()
      if (!attempt.running) return next()
      if (model !== undefined) ctx.setModel(model)
      const response = await next()
      attempt.text = response.text
      return response
    },
  })
  return { layer, begin, summarise }

  /** Must be called as soon as the asking layer is entered. */
  function begin({ metadata }: Pick<ModelContext, 'metadata'>): SummaryAttempt {
    const attempt: SummaryAttempt = { running: false, text: '', deferredReports: [] }
    currentAttempts.set(metadata, attempt)
    return attempt
  }

  /** Returns undefined if summarising fails; after a failure the turn does not try again. */
  async function summarise<S>(
    ctx: ModelContext<S>,
    next: NextFor<ModelResponse>,
    attempt: SummaryAttempt,
    { before, conversation }: { before: string; conversation: readonly Readonly<Message>[] },
  ): Promise<string | undefined> {
    if (failedTurns.has(ctx.metadata)) return undefined
    const { tools, settings, toolChoice, responseFormat } = ctx.request
    const timeoutController = new AbortController()
    const stopTimer = ctx.clock.after(timeout, () =>
      timeoutController.abort(
        new AlliumError('layer.timeout', `The summary of "${as}" took longer than ${timeout} ms.`),
      ),
    )
    ctx.onChunk(() => (attempt.running ? null : undefined))
    attempt.running = true
    try {
      ctx.messages = summaryRequest(prompt, before, conversation)
      ctx.toolDefs = []
      ctx.toolChoice = 'auto'
      ctx.responseFormat = { type: 'text' }
      ctx.settings = { maxOutputTokens: summaryTokens, ...(settings.headers && { headers: settings.headers }) }
      await next({ signal: timeoutController.signal })
      const text = attempt.text.trim()
      if (text === '') throw new AlliumError('model.failed', 'The model returned an empty summary.')
      return text
    } catch (error) {
      if (ctx.signal.aborted || isBlockError(error)) throw error
      attempt.deferredReports.push(() => {
        failedTurns.add(ctx.metadata)
        ctx.logger.warn(`"${as}" could not summarize, so older messages are left out: ${messageOf(error)}`, { error })
      })
      return undefined
    } finally {
      stopTimer()
      attempt.running = false
      ctx.toolDefs = [...tools]
      ctx.toolChoice = toolChoice
      ctx.responseFormat = responseFormat
      ctx.settings = settings
    }
  }
}
