import type { AiSdkModel } from './ai-sdk-model.ts'

/** An AI SDK provider, such as the result of `createOpenAI()`. */
export interface AiSdkProvider {
  languageModel(modelId: string): AiSdkModel
}

/** Imports a package by its name. */
export type Import = (name: string) => Promise<Record<string, unknown>>

export function isAiSdkProvider(value: unknown): value is AiSdkProvider {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && typeof (value as Partial<AiSdkProvider>).languageModel === 'function'
}
