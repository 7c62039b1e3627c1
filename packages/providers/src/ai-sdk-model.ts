import { AlliumError } from '@allium/core'

/** The URLs that a model fetches itself: patterns of lower-case URLs by media type, including `image/*` and `*`. */
export type UrlPatterns = Record<string, RegExp[]>

/** A language model of the AI SDK, by shape: `LanguageModelV2`, `V3`, `V4` and later. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls?: UrlPatterns | PromiseLike<UrlPatterns>
  doStream(options: never): PromiseLike<{ stream: PartStream }>
}

/** The used part of a `ReadableStream`, whose type differs between the DOM library and Node. */
interface PartStream {
  getReader(): PartReader
}
export interface PartReader {
  read(): Promise<{ done: boolean; value?: unknown }>
  cancel(reason?: unknown): Promise<void>
}

export function isAiSdkModel(value: unknown): value is AiSdkModel {
  return typeof value === 'object' && value !== null && typeof (value as Partial<AiSdkModel>).doStream === 'function'
}

/** Returns the provider: `openai` for `openai.responses`. */
export function providerName({ provider }: AiSdkModel): string {
  return provider.split('.', 1)[0] as string
}

export function unsupported(model: AiSdkModel, what: string): AlliumError {
  return new AlliumError('provider.unsupported', `The model ${providerName(model)}/${model.modelId} ${what}`)
}
