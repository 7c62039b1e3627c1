import type { Model, ModelChunk, ModelRequest } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type AiSdkModel, providerName } from './ai-sdk-model.ts'
import { serverOf } from './server.ts'

export interface FromAiSdkOptions {
  /** The model's id in prices and logs. @default provider and model, such as `openai/gpt-5` */
  id?: string | undefined
}

const optionKeys: KeysOf<FromAiSdkOptions> = { id: true }

/**
 * Converts a language model of the AI SDK (specification v2, v3, v4 or later, recognized by shape) to a model for an agent.
 * One call is one request: the AI SDK does not retry at this level, so `model.retry` sees each failure.
 *
 * Errors keep their identity and class, and get their `statusCode` as `status` too. An unknown model gets a fix in its message. A truncated stream throws `model.truncated`,
 * whichever error its package uses. A stream with an error part fails, whatever follows. Leaving the iterator closes the socket.
 *
 * @example
 * new Agent({ model: fromAiSdk(createOpenAI({ apiKey })('gpt-5')) })
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): Model {
  checkOptions(options, optionKeys, 'fromAiSdk()', 'options.invalid')
  const { id = `${providerName(model)}/${model.modelId}` } = options
  const server = serverOf(model)
  return {
    id,
    ...(server !== undefined && { server }),
    stream: (request) => (adapter?.streamAiSdk ?? firstStream)(model, request),
  }
}

/** Converts requests and streams. It is loaded with the first request: most of a program's start does not need it. */
let adapter: typeof import('./ai-sdk-stream.ts') | undefined

async function* firstStream(model: AiSdkModel, request: ModelRequest): AsyncGenerator<ModelChunk, void, undefined> {
  adapter = await import('./ai-sdk-stream.ts')
  yield* adapter.streamAiSdk(model, request)
}
