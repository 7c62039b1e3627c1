import type { ErrorCode } from '../errors/codes.ts'
import { describe } from '../errors/describe.ts'
import { checkOptions, keysOf } from '../errors/known-options.ts'
import type { Message } from '../messages/message.ts'
import type { JsonSchema } from '../ports/validate.ts'
import type { ModelChunk } from './chunk.ts'

export interface ToolDef {
  name: string
  description: string
  jsonSchema: JsonSchema
  /** For tools that the provider runs itself: the provider's id and arguments. */
  providerExecuted?: { id: string; args: Record<string, unknown> }
  /** Options that the provider gets with the tool, by provider. */
  providerOptions?: ProviderOptions
  /** Whether the provider enforces the schema, if it can. */
  strict?: boolean
}
/** Options by provider: `{ anthropic: { deferLoading: true } }`. */
export type ProviderOptions = Record<string, Record<string, unknown>>

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }
export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json'; schema?: JsonSchema; name?: string; description?: string }

export interface Settings {
  temperature?: number
  topP?: number
  /** Maximum output, in tokens. */
  maxOutputTokens?: number
  /** Stop sequences. */
  stop?: string[]
  seed?: number
  /** The effort of a reasoning model. */
  reasoning?: 'low' | 'medium' | 'high'
  /** Passed to the provider unchanged, by provider. */
  providerOptions?: ProviderOptions
  /** HTTP headers of the provider call. */
  headers?: Record<string, string>
}

const ofSettings = /* @__PURE__ */ keysOf<Settings>()(
  'temperature topP maxOutputTokens stop seed reasoning providerOptions headers',
)

/** @param what the subject of the error message */
export function checkSettings(settings: unknown, what: string, code: ErrorCode): void {
  checkOptions(settings, ofSettings, what, code, besideSettings)
}

const besideSettings = {
  'topK presencePenalty frequencyPenalty': 'Give it to the provider: { providerOptions: { anthropic: { … } } }.',
}

/** For options that are often confused with settings. */
export const settingsElsewhere = {
  'temperature topP maxOutputTokens maxTokens stop seed reasoning providerOptions headers':
    'It belongs to settings: { settings: { … } }.',
}

/** The request of one model call. */
export interface ModelRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly settings: Readonly<Settings>
  readonly responseFormat: ResponseFormat
  /** Aborts when the run is aborted, or when the call is abandoned. */
  readonly signal: AbortSignal
  readonly principal: unknown
}

/** The host that a model's calls go to. */
export interface ModelServer {
  readonly address: string
  readonly port?: number
}

/** A language model. Its stream ends with a `finish` chunk; without one it was cut off. Errors are thrown. */
export interface Model {
  /** The name in prices and logs, such as `anthropic/claude-sonnet-4-6`. */
  readonly id: string
  /** The host of its calls, for traces. It has no path or query, which may contain a key. */
  readonly server?: ModelServer
  stream(request: ModelRequest): AsyncIterable<ModelChunk>
}

/** A model of another library, such as an AI SDK provider's. An agent's `adaptModel` converts it. */
export interface ForeignModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<unknown>
}

/** A model, an AI SDK model, or a string that a resolver knows, such as `anthropic/claude-sonnet-4-6`. */
export type ModelRef = Model | ForeignModel | (string & {})
/** A model after adaptation, or a string for the resolver. */
export type KnownModel = Model | string
/** Converts a model of another library. */
export type AdaptModel = (model: ForeignModel) => Model
/** Returns the model for a string. `principal` allows keys per tenant. */
export type ResolveModel = (
  ref: string,
  context: { principal: unknown },
) => Model | ForeignModel | Promise<Model | ForeignModel>

export function modelId(ref: KnownModel): string {
  return typeof ref === 'string' ? ref : ref.id
}

/** Describes a value that is not a model, with a fix for the known mistakes. */
export function describeModel(value: unknown): string {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  const given = (isObject ? value : {}) as Record<string, unknown>
  if (typeof given.languageModel === 'function')
    return 'a provider of the AI SDK was given: pass fromAiSdk(provider("…")) of @allium/providers'
  const id = describe(given.modelId)
  if (typeof given.doStream === 'function')
    return `the AI SDK model ${id} was given: pass fromAiSdk(model) of @allium/providers`
  if (typeof (given.doEmbed ?? given.doGenerate) === 'function') return `${id} was given, which is no language model`
  return `${describe(value)} was given`
}

/** Returns a model or a string unchanged, and adapts another library's model. Returns undefined for any other value. */
export function knownModel(value: unknown, adapt: AdaptModel | undefined): KnownModel | undefined {
  if (typeof value === 'string' || isModel(value)) return value
  if (adapt === undefined || !isForeignModel(value)) return undefined
  const model: unknown = adapt(value)
  return isModel(model) ? model : undefined
}

function isForeignModel(value: unknown): value is ForeignModel {
  return typeof value === 'object' && value !== null && typeof (value as Partial<ForeignModel>).doStream === 'function'
}

export function isModel(value: unknown): value is Model {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Model>).stream === 'function'
}
