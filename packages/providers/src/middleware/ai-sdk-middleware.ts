/** Middleware of the AI SDK around a language model, by shape: `LanguageModelMiddleware` of `ai` 5, 6, 7 and later. */
export interface AiSdkMiddleware {
  /** `v3` is that of `ai` 6, `v4` that of `ai` 7. */
  readonly specificationVersion?: string
  readonly middlewareVersion?: string | undefined
  overrideProvider?(options: never): string
  overrideModelId?(options: never): string
  /** Has no effect: which URLs a model fetches is asked of the model itself. */
  overrideSupportedUrls?(options: never): unknown
  transformParams?(options: never): PromiseLike<object>
  wrapGenerate?(options: never): PromiseLike<object>
  wrapStream?(options: never): PromiseLike<{ stream: unknown }>
}

/** What `doStream` asks for, in the words of the AI SDK. */
export type Params = { [key: string]: unknown }

/** A piece of a stream in the words of the AI SDK. */
export type StreamPart = { type: string; [key: string]: unknown }

/** What `doGenerate` gives. */
export interface GenerateResult {
  content: StreamPart[]
  finishReason?: unknown
  usage?: unknown
  providerMetadata?: unknown
  warnings?: unknown
  response?: { id?: string }
}
