import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  type ModelRef,
  option,
  type TypedMiddleware,
} from '@allium/core'
import { isNonRetryable } from '@allium/shared/resilience'
import { trackOutput } from './track-output.ts'

export interface FallbackOptions {
  /** The models that are called when the model fails, in order: models, or strings that the agent resolves. */
  models: readonly ModelRef[]
  /** After which errors the next model is called. A block or an abort never counts. @default every error */
  when?(error: unknown): boolean
  /** What to do if text was already streamed: retract it with `model:reset` and call the next model, or fail. @default 'reset' */
  afterOutput?: 'reset' | 'fail' | undefined
  /** The layer's name. @default 'model:fallback' */
  as?: string | undefined
}

const readOptions = layerOptions<FallbackOptions>('model:fallback', {
  models: option.required(option.some(option.any), 'at least one model to fall back on'),
  when: option.fn,
  afterOutput: option.oneOf('reset', 'fail'),
})

/**
 * Calls other models when one fails, across providers.
 *
 * Outside of `model.retry`, each model is retried before the next one is called. If the last one fails too, its error is thrown with
 * the errors of the others in `suppressed`. Each step emits a `model:fallback` event.
 *
 * @throws AlliumError `layer.config` when no model is given
 * @example
 * agent.use(model.fallback({ models: ['openai/gpt-5-mini', 'google/gemini-2.5-flash'] })).use(model.retry())
 */
export function fallback(options: FallbackOptions): TypedMiddleware<{}> {
  const { models, when, afterOutput = 'reset', as = 'model:fallback' } = readOptions(options)

  /** A replay makes the same decision. */
  const shouldFallBack = (ctx: ModelContext, error: unknown) =>
    when === undefined || ctx.once('when', () => when(error), { per: 'attempt' })

  return defineMiddleware({
    name: as,
    options: { models: models.filter((model) => typeof model === 'string'), afterOutput },
    order: { is: ['fallbacks', 'retries'] },
    async model(ctx, next) {
      const hasStreamed = afterOutput === 'fail' ? trackOutput(ctx) : () => false
      const failures: unknown[] = []
      for (let i = 0; ; i++) {
        const { model } = ctx
        try {
          return await next()
        } catch (error) {
          const nextModel = models[i]
          if (
            nextModel === undefined ||
            hasStreamed() ||
            ctx.signal.aborted ||
            isNonRetryable(error) ||
            !(await shouldFallBack(ctx, error))
          )
            throw withSuppressed(error, failures)
          failures.push(error)
          ctx.setModel(nextModel)
          ctx.emit({ type: 'model:fallback', from: model, to: ctx.model, error: errorName(error) })
        }
      }
    },
  })
}

/** Returns what the stream may contain about an error: not its message, which may hold a secret. */
function errorName(error: unknown): string {
  const { name = 'error', status } = (error ?? {}) as { name?: unknown; status?: unknown }
  return typeof status === 'number' ? `${String(name)} ${status}` : String(name)
}

function withSuppressed(error: unknown, failures: readonly unknown[]): unknown {
  if (failures.length === 0 || typeof error !== 'object' || error === null || !Object.isExtensible(error)) return error
  const { suppressed } = error as { suppressed?: unknown }
  const suppressedErrors = [...failures, ...(Array.isArray(suppressed) ? suppressed : [])]
  return Object.defineProperty(error, 'suppressed', { value: suppressedErrors, configurable: true, writable: true })
}

declare module '@allium/core' {
  interface AgentEvents {
    'model:fallback': ModelFallback
  }
}

/** The next model is called; emitted in the run's stream and to observers. */
export interface ModelFallback {
  type: 'model:fallback'
  /** Ids of the models. */
  from: string
  to: string
  /** Name and status of the error. */
  error: string
}
