import type { ModelRequest, ResponseFormat, Settings, ToolChoice, ToolDef } from '@allium/core'
import { type AiSdkModel, providerName } from './ai-sdk-model.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { messagesFor } from './foreign-parts.ts'
import { objectSchema } from './object-schema.ts'
import { toPrompt } from './prompt.ts'
import { promptMedia } from './prompt-media.ts'
import type { ProviderTools } from './provider-tools.ts'
import { reasoningOptions } from './reasoning.ts'
import { strictSchema } from './strict-schema.ts'

/** Converts a request to the options of `doStream`. Unset options are left out. */
export async function callOptions(
  model: AiSdkModel,
  request: ModelRequest,
  tools: ProviderTools,
): Promise<Record<string, unknown>> {
  const dialect = dialectOf(model)
  const { format, providerOptions } = formatFor(model, request.responseFormat)
  const urls = await model.supportedUrls
  const media = promptMedia(model, urls, tools.warnings)
  const options: Record<string, unknown> = {
    prompt: toPrompt(messagesFor(request.messages, model, tools.warnings), { model, dialect, tools, urls, media }),
    abortSignal: request.signal,
    ...settingsOptions(model, request.settings, dialect, providerOptions),
  }
  if (request.tools.length > 0) {
    options.tools = request.tools.map((tool) => toTool(withSchema(tool, model, tools), dialect))
    options.toolChoice = toToolChoice(request.toolChoice)
  }
  // A gateway would send each event twice.
  if (model.provider !== 'gateway' || tools.hasMcp) options.includeRawChunks = true
  if (format.type === 'json') options.responseFormat = format
  return options
}

/** Returns the format in the form of strict mode, which packages use by default, or the option that turns strict mode off. */
function formatFor(
  model: AiSdkModel,
  format: ResponseFormat,
): { format: ResponseFormat; providerOptions?: NonNullable<Settings['providerOptions']> } {
  if (format.type === 'text' || format.schema === undefined) return { format }
  const schema = strictSchema(format.schema, takesOptional(model))
  if (schema !== undefined) return { format: { ...format, schema } }
  if (takesOptional(model)) return { format }
  const off = { strictJsonSchema: false }
  // A provider of OpenAI's package that has another name reads the options of `openai`.
  return { format, providerOptions: { openai: off, [providerName(model)]: off } }
}

/** Returns the tool with a schema that the provider takes. Without `strict`, if strict mode cannot express it. */
function withSchema(tool: ToolDef, model: AiSdkModel, tools: ProviderTools): ToolDef {
  if (tool.providerExecuted !== undefined) return tool
  const jsonSchema = objectSchema(tool.jsonSchema)
  if (tool.strict !== true) return { ...tool, jsonSchema }
  const schema = strictSchema(jsonSchema, takesOptional(model))
  if (schema !== undefined) return { ...tool, jsonSchema: schema }
  tools.warnings.push({
    type: 'unsupported',
    feature: 'strict',
    message: `The tool "${tool.name}" is sent without strict, because strict mode cannot express its schema. Use only required properties, and no free keys.`,
  })
  return { ...tool, jsonSchema, strict: false }
}

/** Whether the strict mode of a provider takes optional properties. OpenAI's, and that of APIs like it, does not. */
function takesOptional({ provider }: AiSdkModel): boolean {
  return /anthropic|google|bedrock/.test(provider)
}

function settingsOptions(
  model: AiSdkModel,
  settings: Settings,
  dialect: Dialect,
  defaults: Settings['providerOptions'],
): Record<string, unknown> {
  const { stop, reasoning, providerOptions, ...same } = settings
  const options: Record<string, unknown> = { ...same }
  if (stop !== undefined) options.stopSequences = stop
  if (reasoning !== undefined && dialect.reasoning) options.reasoning = reasoning
  const derived = reasoning !== undefined && !dialect.reasoning ? reasoningOptions(model, reasoning) : {}
  const merged = mergeOptions(derived, mergeOptions(defaults, providerOptions))
  if (Object.keys(merged).length > 0) options.providerOptions = merged
  return options
}

/** The caller's own options take precedence, key by key. */
function mergeOptions(
  derived: Settings['providerOptions'] = {},
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
