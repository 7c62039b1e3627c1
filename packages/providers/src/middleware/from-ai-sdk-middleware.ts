import { defineMiddleware, layerOptions, type ModelContext, misconfigured, type TypedMiddleware } from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import type { AiSdkMiddleware } from './ai-sdk-middleware.ts'
import { MiddlewareCall } from './middleware-call.ts'

export interface FromAiSdkMiddlewareOptions {
  /** The layer's name. @default 'providers:ai-sdk' */
  as?: string | undefined
}

const readOptions = layerOptions<FromAiSdkMiddlewareOptions>('providers:ai-sdk', {})

/**
 * Converts AI SDK middleware around a language model to a layer. It runs unchanged, around any model that is called.
 *
 * `wrapStream` runs while the answer streams. With only `wrapGenerate`, nothing is sent until the answer is complete and was
 * processed. `doGenerate` inside it drains the answer. A middleware that calls neither answers in place of the model. A second call is
 * another attempt, which begins after the previous one has ended. `overrideProvider` and `overrideModelId` name the model for
 * observers; `overrideSupportedUrls` has no effect.
 *
 * @throws AlliumError `layer.config` for an invalid middleware. In a run: `model.truncated` when its stream ends without a finish,
 * `layer.result` and `stream.tool_order`, with the layer's name, when it violates the order of a stream
 * @example
 * agent.use(fromAiSdkMiddleware(extractReasoningMiddleware({ tagName: 'think' }), { as: 'think' }))
 */
export function fromAiSdkMiddleware(
  middleware: AiSdkMiddleware,
  options: FromAiSdkMiddlewareOptions = {},
): TypedMiddleware<{}> {
  const { as = 'providers:ai-sdk' } = readOptions(options)
  checkMiddleware(middleware, as)
  const wraps = middleware.wrapStream !== undefined || middleware.wrapGenerate !== undefined
  return defineMiddleware({
    name: as,
    order: { is: middleware.transformParams === undefined ? [] : ['shapes'], outside: wraps ? ['meters'] : [] },
    reenters: true,
    model: (ctx, next) => new MiddlewareCall(middleware, as, ctx, next, facadeOf(middleware, ctx)).answer(),
  })
}

const hooks = [
  'transformParams',
  'wrapGenerate',
  'wrapStream',
  'overrideProvider',
  'overrideModelId',
  'overrideSupportedUrls',
] as const

function checkMiddleware(middleware: unknown, as: string): void {
  const given = (typeof middleware === 'object' && middleware !== null ? middleware : {}) as Record<string, unknown>
  const set = hooks.filter((hook) => given[hook] !== undefined)
  if (set.length === 0 || set.some((hook) => typeof given[hook] !== 'function'))
    throw misconfigured(
      as,
      'takes a middleware of the AI SDK: an object with functions such as transformParams, wrapGenerate or wrapStream.',
    )
}

/** Returns the model for a middleware; its calls run the inner layers. */
function facadeOf({ specificationVersion, middlewareVersion }: AiSdkMiddleware, { model }: ModelContext): AiSdkModel {
  const slash = model.indexOf('/')
  return {
    specificationVersion: specificationVersion ?? middlewareVersion ?? 'v3',
    provider: model.slice(0, Math.max(slash, 0)),
    modelId: model.slice(slash + 1),
    supportedUrls: {},
    doStream: () => Promise.reject(new Error('No call has begun.')),
  }
}
