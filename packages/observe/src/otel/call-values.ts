import type { FinishReason, ModelContext, ModelResponse, Settings, Usage } from '@allium/core'
import type { PhysicalCall } from '@allium/core/context'
import type { Values } from './conventions.ts'

/** Returns the parameters of a request, without content. */
export function requestValues(ctx: ModelContext): Values {
  const { settings, responseFormat } = ctx.request
  return {
    ...modelValues(ctx.model),
    ...settingValues(settings),
    conversation: ctx.sessionId,
    outputType: responseFormat?.type === 'json' ? 'json' : undefined,
    // All models stream.
    stream: true,
    reasoningLevel: settings.reasoning,
    compacted: isCompacted(ctx) ? true : undefined,
  }
}

export function settingValues({ temperature, topP, maxOutputTokens, seed, stop }: Readonly<Settings>): Values {
  return { temperature, topP, maxTokens: maxOutputTokens, seed, stop: stop && [...stop] }
}

/** Whether `memory.compact` or the provider has shortened the conversation. */
function isCompacted({ metadata, request }: ModelContext): boolean {
  if (metadata['memory:compacted'] === true) return true
  return request.messages.some(
    ({ content }) =>
      typeof content !== 'string' &&
      content.some((part) => part.type === 'custom' && part.kind.endsWith('.compaction')),
  )
}

export function serverValues({ server }: Partial<PhysicalCall> = {}): Values {
  return { serverAddress: server?.address, serverPort: server?.port }
}

export function responseValues({ finishReason, model, responseId }: ModelResponse): Values {
  return { responseId, responseModel: withoutProvider(model), finishReasons: [finishReasonOf(finishReason)] }
}

export function withoutProvider(model: string): string {
  return model.slice(model.indexOf('/') + 1)
}

export function usageValues(usage: Usage): Values {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cachedInputTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    reasoningTokens: usage.reasoningTokens,
  }
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

/** Returns provider and model of an id such as `anthropic/claude-sonnet-4-6`. */
export function modelValues(id: string): { readonly provider?: string; readonly requestModel: string } {
  const slash = id.indexOf('/')
  if (slash < 0) return { requestModel: id }
  const provider = id.slice(0, slash)
  return { provider: providers.get(provider) ?? provider, requestModel: id.slice(slash + 1) }
}

/** Providers that have another name in the conventions. */
const providers = new Map([
  ['google', 'gcp.gemini'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
  ['moonshotai', 'moonshot_ai'],
])
