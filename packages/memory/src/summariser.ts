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
import type { CompactPlan } from './compact-options.ts'
import { summaryRequest } from './summary.ts'

type How = Pick<CompactPlan<string>, 'as' | 'model' | 'prompt' | 'summaryTokens' | 'timeout'>

/**
 * Makes summaries by a call through the layers inside. A layer of its own directs it to its model, because the layer that
 * asks goes on with the model that it found.
 */
export function summariser({ as, model, prompt, summaryTokens, timeout }: How) {
  /** By the turn's scratch record, which both layers see: the summary that is being made, and turns in which one failed. */
  const running = new WeakMap<object, { text: string }>()
  const failed = new WeakSet<object>()

  const layer = defineMiddleware({
    name: `${as}:call`,
    order: { is: ['shapes'] },
    async model(ctx, next) {
      const summary = running.get(ctx.metadata)
      if (summary === undefined) return next()
      if (model !== undefined) ctx.setModel(model)
      const response = await next()
      summary.text = response.text
      return response
    },
  })
  return { layer, summarise }

  /** Undefined where that fails; a turn asks once. */
  async function summarise<S>(
    ctx: ModelContext<S>,
    next: NextFor<ModelResponse>,
    { before, talk }: { before: string; talk: readonly Readonly<Message>[] },
  ): Promise<string | undefined> {
    if (failed.has(ctx.metadata)) return undefined
    const { tools, settings, toolChoice, responseFormat } = ctx.request
    const summary = { text: '' }
    const late = new AbortController()
    const stop = ctx.clock.after(timeout, () =>
      late.abort(new AlliumError('layer.timeout', `The summary of "${as}" took longer than ${timeout} ms.`)),
    )
    ctx.onChunk(() => (running.get(ctx.metadata) === summary ? null : undefined))
    running.set(ctx.metadata, summary)
    try {
      ctx.messages = summaryRequest(prompt, before, talk)
      ctx.toolDefs = []
      ctx.toolChoice = 'auto'
      ctx.responseFormat = { type: 'text' }
      ctx.settings = { maxOutputTokens: summaryTokens, ...(settings.headers && { headers: settings.headers }) }
      await next({ signal: late.signal })
      const text = summary.text.trim()
      if (text === '') throw new AlliumError('model.failed', 'The model gave an empty summary.')
      return text
    } catch (error) {
      if (ctx.signal.aborted || isBlockError(error)) throw error
      failed.add(ctx.metadata)
      ctx.logger.warn(`"${as}" could not summarise, so older messages are left out: ${messageOf(error)}`, { error })
      return undefined
    } finally {
      stop()
      running.delete(ctx.metadata)
      ctx.toolDefs = [...tools]
      ctx.toolChoice = toolChoice
      ctx.responseFormat = responseFormat
      ctx.settings = settings
    }
  }
}
