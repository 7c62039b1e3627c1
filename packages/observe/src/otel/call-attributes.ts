import type { FinishReason, ModelContext, ModelResponse, Usage } from '@allium/core'
import type { PhysicalCall } from '@allium/core/context'
import type { Attributes } from '@opentelemetry/api'
import { alliumNames, names } from './names.ts'

/** Returns the parameters of a request, without content. */
export function requestAttributes({ request, attempt }: ModelContext): Attributes {
  const { settings, responseFormat } = request
  return definedAttributes({
    [names.temperature]: settings.temperature,
    [names.topP]: settings.topP,
    [names.maxTokens]: settings.maxOutputTokens,
    [names.seed]: settings.seed,
    [names.stop]: settings.stop === undefined ? undefined : [...settings.stop],
    [names.outputType]: responseFormat?.type === 'json' ? 'json' : undefined,
    [alliumNames.attempt]: attempt === 1 ? undefined : attempt,
  })
}

export function serverAttributes({ server }: Partial<PhysicalCall> = {}): Attributes {
  return definedAttributes({ [names.serverAddress]: server?.address, [names.serverPort]: server?.port })
}

export function responseAttributes({ finishReason, model, responseId }: ModelResponse): Attributes {
  return {
    ...definedAttributes({ [names.responseId]: responseId }),
    ...responseModel(model),
    [names.finishReasons]: [finishReasonOf(finishReason)],
  }
}

export function responseModel(model: string): Attributes {
  return { [names.responseModel]: model.slice(model.indexOf('/') + 1) }
}

export function usageAttributes(usage: Usage): Attributes {
  return definedAttributes({
    [names.inputTokens]: usage.inputTokens,
    [names.outputTokens]: usage.outputTokens,
    [names.cacheReadTokens]: usage.cachedInputTokens,
    [names.cacheWriteTokens]: usage.cacheWriteTokens,
    [names.reasoningTokens]: usage.reasoningTokens,
    [alliumNames.estimated]: usage.estimated,
  })
}

/** Returns the finish reason in the form of the conventions. */
export function finishReasonOf(reason: FinishReason): string {
  return {
    stop: 'stop',
    length: 'length',
    'tool-calls': 'tool_call',
    'content-filter': 'content_filter',
    other: 'other',
  }[reason]
}

function definedAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
