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

/** What one attempt of the layer that asks is about: nothing of another one, which may end late, is in it. */
export interface Asking {
  running: boolean
  text: string
  /** What is told once the attempt goes on: one that was left goes no further. */
  readonly toTell: (() => void)[]
}

/**
 * Makes summaries by a call through the layers inside. A layer of its own directs it to its model, because the layer that
 * asks goes on with the model that it found.
 */
export function summariser({ as, model, prompt, summaryTokens, timeout }: How) {
  /** By the turn's scratch record. Only a living attempt enters a layer: who entered last is around what enters next. */
  const last = new WeakMap<object, Asking>()
  const failed = new WeakSet<object>()

  const layer = defineMiddleware({
    name: `${as}:call`,
    order: { is: ['shapes'] },
    async model(ctx, next) {
      const asking = last.get(ctx.metadata)
      if (asking === undefined) return next()
      for (const tell of asking.toTell.splice(0)) tell()
      if (!asking.running) return next()
      if (model !== undefined) ctx.setModel(model)
      const response = await next()
      asking.text = response.text
      return response
    },
  })
  return { layer, begin, summarise }

  /** To be called as soon as the layer that asks is entered. */
  function begin({ metadata }: Pick<ModelContext, 'metadata'>): Asking {
    const asking: Asking = { running: false, text: '', toTell: [] }
    last.set(metadata, asking)
    return asking
  }

  /** Undefined where that fails; a turn asks once. */
  async function summarise<S>(
    ctx: ModelContext<S>,
    next: NextFor<ModelResponse>,
    asking: Asking,
    { before, talk }: { before: string; talk: readonly Readonly<Message>[] },
  ): Promise<string | undefined> {
    if (failed.has(ctx.metadata)) return undefined
    const { tools, settings, toolChoice, responseFormat } = ctx.request
    const late = new AbortController()
    const stop = ctx.clock.after(timeout, () =>
      late.abort(new AlliumError('layer.timeout', `The summary of "${as}" took longer than ${timeout} ms.`)),
    )
    ctx.onChunk(() => (asking.running ? null : undefined))
    asking.running = true
    try {
      ctx.messages = summaryRequest(prompt, before, talk)
      ctx.toolDefs = []
      ctx.toolChoice = 'auto'
      ctx.responseFormat = { type: 'text' }
      ctx.settings = { maxOutputTokens: summaryTokens, ...(settings.headers && { headers: settings.headers }) }
      await next({ signal: late.signal })
      const text = asking.text.trim()
      if (text === '') throw new AlliumError('model.failed', 'The model gave an empty summary.')
      return text
    } catch (error) {
      if (ctx.signal.aborted || isBlockError(error)) throw error
      asking.toTell.push(() => {
        failed.add(ctx.metadata)
        ctx.logger.warn(`"${as}" could not summarise, so older messages are left out: ${messageOf(error)}`, { error })
      })
      return undefined
    } finally {
      stop()
      asking.running = false
      ctx.toolDefs = [...tools]
      ctx.toolChoice = toolChoice
      ctx.responseFormat = responseFormat
      ctx.settings = settings
    }
  }
}
