import type { ModelRequest, Settings, ToolChoice, ToolDef } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { toPrompt } from './prompt.ts'
import type { ProviderTools } from './provider-tools.ts'
import { reasoningOptions } from './reasoning.ts'

/** Converts a request to the options of `doStream`. Unset options are left out. */
export async function callOptions(
  model: AiSdkModel,
  request: ModelRequest,
  tools: ProviderTools,
): Promise<Record<string, unknown>> {
  const dialect = dialectOf(model)
  const options: Record<string, unknown> = {
    prompt: toPrompt(request.messages, { model, dialect, tools, urls: await model.supportedUrls }),
    abortSignal: request.signal,
    ...settingsOptions(model, request.settings, dialect),
  }
  if (request.tools.length > 0) {
    options.tools = request.tools.map((tool) => toTool(tool, dialect))
    options.toolChoice = toToolChoice(request.toolChoice)
  }
  if (dialect.rawEvents(model) || tools.hasMcp) options.includeRawChunks = true
  if (request.responseFormat.type === 'json') options.responseFormat = request.responseFormat
  return options
}

function settingsOptions(model: AiSdkModel, settings: Settings, dialect: Dialect): Record<string, unknown> {
  const { stop, reasoning, providerOptions, ...same } = settings
  const options: Record<string, unknown> = { ...same }
  if (stop !== undefined) options.stopSequences = stop
  if (reasoning !== undefined && dialect.reasoning) options.reasoning = reasoning
  const derived = reasoning !== undefined && !dialect.reasoning ? reasoningOptions(model, reasoning) : {}
  const merged = mergeOptions(derived, providerOptions)
  if (Object.keys(merged).length > 0) options.providerOptions = merged
  return options
}

/** The caller's own options take precedence, key by key. */
function mergeOptions(
  derived: NonNullable<Settings['providerOptions']>,
  providerOverrides: Settings['providerOptions'] = {},
): NonNullable<Settings['providerOptions']> {
  const merged = { ...providerOverrides }
  for (const [provider, options] of Object.entries(derived))
    merged[provider] = { ...options, ...providerOverrides[provider] }
  return merged
}

export function toTool(
  { name, description, jsonSchema, providerExecuted, providerOptions, strict }: ToolDef,
  dialect: Dialect,
): Record<string, unknown> {
  if (providerExecuted !== undefined) return { type: dialect.providerTool, name, ...providerExecuted }
  const tool: Record<string, unknown> = { type: 'function', name, description, inputSchema: jsonSchema }
  if (providerOptions !== undefined) tool.providerOptions = providerOptions
  if (strict !== undefined && dialect.strict) tool.strict = strict
  return tool
}

export function toToolChoice(choice: ToolChoice): Record<string, unknown> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name }
}
