import type { ModelRequest, ResponseFormat, Settings, ToolChoice, ToolDef } from '@allium/core'
import { type AiSdkModel, providerName } from './ai-sdk-model.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { messagesFor } from './foreign-parts.ts'
import { objectSchema } from './object-schema.ts'
import { portableSchema } from './portable-schema.ts'
import { toPrompt } from './prompt.ts'
import { promptMedia } from './prompt-media.ts'
import type { ProviderTools } from './provider-tools.ts'
import { reasoningOptions } from './reasoning.ts'
import { ofClaude, ofGemini, reducedSchema } from './reduced-schema.ts'
import { isRecursive, type JsonSchema } from './schema-parts.ts'
import { strictSchema } from './strict-schema.ts'

/** Converts a request to the options of `doStream`. Unset options are left out. */
export async function callOptions(
  model: AiSdkModel,
  request: ModelRequest,
  tools: ProviderTools,
): Promise<Record<string, unknown>> {
  const dialect = dialectOf(model)
  const { format, providerOptions, prompt = [] } = formatFor(model, request.responseFormat)
  const urls = await model.supportedUrls
  const media = promptMedia(model, urls, tools.warnings)
  const messages = messagesFor(request.messages, model, tools.warnings)
  const options: Record<string, unknown> = {
    prompt: [...prompt, ...toPrompt(messages, { model, dialect, tools, urls, media })],
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

interface Format {
  readonly format: ResponseFormat
  readonly providerOptions?: Settings['providerOptions']
  /** A schema in words, for a provider that cannot take it. */
  readonly prompt?: readonly object[]
}

/** Returns the format in the form of strict mode, which packages use by default, or the option that turns strict mode off. */
function formatFor(model: AiSdkModel, format: ResponseFormat): Format {
  if (format.type === 'text' || format.schema === undefined) return { format }
  const vendor = vendorOf(model)
  const given = portableSchema(format.schema)
  if (vendor === 'google' && isRecursive(given)) return inWords(given)
  if (vendor === 'google') return { format: { ...format, schema: reducedSchema(given, ofGemini) } }
  const schema = vendor === undefined ? given : reducedSchema(given, /./)
  const strict = strictSchema(schema, vendor !== undefined)
  if (strict !== undefined || vendor !== undefined) return { format: { ...format, schema: strict ?? schema } }
  if (alwaysStrict.test(model.provider)) return inWords(given)
  const off = { strictJsonSchema: false }
  // A provider of OpenAI's package that has another name reads the options of `openai`.
  return { format: { ...format, schema }, providerOptions: { openai: off, [providerName(model)]: off } }
}

/** Providers whose packages ask for strict mode with every schema, and have no option that turns it off. */
const alwaysStrict = /^(xai|openrouter|llmgateway|databricks|helicone)\b|(?<!openai|azure)\.responses$/

function inWords(schema: JsonSchema): Format {
  const content = `Answer only with JSON that fits this JSON Schema: ${JSON.stringify(schema)}`
  return { format: { type: 'json' }, prompt: [{ role: 'system', content }] }
}

/** Returns the tool with a schema that the provider takes. Without `strict`, if strict mode cannot express it. */
function withSchema(tool: ToolDef, model: AiSdkModel, tools: ProviderTools): ToolDef {
  if (tool.providerExecuted !== undefined) return tool
  const vendor = vendorOf(model)
  const given = objectSchema(portableSchema(tool.jsonSchema))
  const jsonSchema = vendor === 'google' ? reducedSchema(given, ofGemini) : given
  if (tool.strict !== true) return { ...tool, jsonSchema }
  const isClaude = vendor === 'anthropic' || vendor === 'bedrock'
  const schema = strictSchema(isClaude ? reducedSchema(given, ofClaude) : jsonSchema, vendor !== undefined)
  if (schema !== undefined && !(isClaude && isRecursive(given))) return { ...tool, jsonSchema: schema }
  tools.warnings.push({
    type: 'unsupported',
    feature: 'strict',
    message: `The tool "${tool.name}" is sent without strict, because strict mode cannot express its schema. Use only required properties, and no free keys.`,
  })
  return { ...tool, jsonSchema, strict: false }
}

/** The vendors whose rules for schemas differ from OpenAI's: their strict modes take optional properties. */
function vendorOf({ provider }: AiSdkModel): string | undefined {
  return ['anthropic', 'bedrock', 'google'].find((vendor) => provider.includes(vendor))
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
