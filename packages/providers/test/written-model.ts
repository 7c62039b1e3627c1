import type { ModelRequest } from '@allium/core'
import { type AiSdkModel, fromAiSdk } from '@allium/providers'
import { collect, failureOf } from './calls.ts'

export interface Written extends AiSdkModel {
  /** The options of each call. */
  calls: Record<string, unknown>[]
}

/** A language model object written by hand that streams `parts`. */
export function written(specificationVersion: string, parts: object[], over: Partial<AiSdkModel> = {}): Written {
  const calls: Record<string, unknown>[] = []
  return {
    specificationVersion,
    provider: 'acme.messages',
    modelId: 'm-1',
    calls,
    async doStream(options: Record<string, unknown>) {
      calls.push(options)
      return { stream: ReadableStream.from(parts) }
    },
    ...over,
  }
}

const usageV2 = { inputTokens: 20, outputTokens: 7, totalTokens: 27, reasoningTokens: 3, cachedInputTokens: 8 }
const usageV3 = {
  inputTokens: { total: 20, noCache: 10, cacheRead: 8, cacheWrite: 2 },
  outputTokens: { total: 7, text: 4, reasoning: 3 },
}

export const finishV2 = { type: 'finish', finishReason: 'stop', usage: usageV2 }
export const finishV3 = { type: 'finish', finishReason: { unified: 'stop', raw: 'end_turn' }, usage: usageV3 }

/** The options that the model was called with last. */
export function sent(model: Written): Record<string, never> {
  return model.calls.at(-1) as Record<string, never>
}

/** The options that a request becomes. */
export async function optionsFor(over: Partial<ModelRequest>, model = written('v3', [finishV3])) {
  await collect(fromAiSdk(model), over)
  return sent(model)
}

/** What the parts of a stream become, without the finish. */
export async function chunksOf(...parts: object[]) {
  return (await collect(fromAiSdk(written('v3', [...parts, finishV3])))).slice(0, -1)
}

export function errorOf(...parts: object[]): Promise<unknown> {
  return failureOf(fromAiSdk(written('v3', [...parts, finishV3])))
}
