/** AI SDK middleware around a language model, by shape: `LanguageModelMiddleware` of `ai` 5, 6, 7 and later. */
export interface AiSdkMiddleware {
  /** `v3` belongs to `ai` 6, `v4` to `ai` 7. */
  readonly specificationVersion?: string
  readonly middlewareVersion?: string | undefined
  overrideProvider?(options: never): string
  overrideModelId?(options: never): string
  /** Has no effect, because the model itself decides which URLs it fetches. */
  overrideSupportedUrls?(options: never): unknown
  transformParams?(options: never): PromiseLike<object>
  wrapGenerate?(options: never): PromiseLike<object>
  wrapStream?(options: never): PromiseLike<{ stream: unknown }>
}

/** The parameters of `doStream`, in the AI SDK's form. */
export type Params = { [key: string]: unknown }

/** A part of a stream, in the AI SDK's form. */
export type StreamPart = { type: string; [key: string]: unknown }

/** The result of `doGenerate`. */
export interface GenerateResult {
  content: StreamPart[]
  finishReason?: unknown
  usage?: unknown
  providerMetadata?: unknown
  warnings?: unknown
  response?: { id?: string }
}
