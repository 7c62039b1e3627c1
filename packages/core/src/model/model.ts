import type { ErrorCode } from '../errors/codes.ts'
import { describe } from '../errors/describe.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import type { Message } from '../messages/message.ts'
import type { JsonSchema } from '../seams/validate.ts'
import type { ModelChunk } from './chunk.ts'

export interface ToolDef {
  name: string
  description: string
  jsonSchema: JsonSchema
  /** For tools that the provider runs itself: its own id and arguments for it. */
  providerExecuted?: { id: string; args: Record<string, unknown> }
  /** Passed to the provider with the tool, by provider. */
  providerOptions?: ProviderOptions
  /** Whether the provider holds the model to the schema, where it can. */
  strict?: boolean
}
/** By provider: `{ anthropic: { deferLoading: true } }`. */
export type ProviderOptions = Record<string, Record<string, unknown>>

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }
export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json'; schema?: JsonSchema; name?: string; description?: string }

export interface Settings {
  temperature?: number
  topP?: number
  /** Tokens. */
  maxOutputTokens?: number
  /** Texts at which the model stops. */
  stop?: string[]
  seed?: number
  /** How long a model that can think does so. */
  reasoning?: 'low' | 'medium' | 'high'
  /** Passed to the provider as they are, by provider. */
  providerOptions?: ProviderOptions
  /** HTTP headers of the provider call. */
  headers?: Record<string, string>
}

const ofSettings: KeysOf<Settings> = {
  temperature: true,
  topP: true,
  maxOutputTokens: true,
  stop: true,
  seed: true,
  reasoning: true,
  providerOptions: true,
  headers: true,
}

/** @param what whose settings they are, for the message */
export function checkSettings(settings: unknown, what: string, code: ErrorCode): void {
  checkOptions(settings, ofSettings, what, code, besideSettings)
}

const besideSettings = {
  'topK presencePenalty frequencyPenalty': 'Give it to the provider: { providerOptions: { anthropic: { … } } }.',
}

/** For options that settings are mixed into. */
export const settingsElsewhere = {
  'temperature topP maxOutputTokens maxTokens stop seed reasoning providerOptions headers':
    'It belongs to settings: { settings: { … } }.',
}

/** What one model call sends. */
export interface ModelRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly settings: Readonly<Settings>
  readonly responseFormat: ResponseFormat
  /** Aborts when the run does, or when the call is left. */
  readonly signal: AbortSignal
  readonly principal: unknown
}

/** The host that a model's calls go to. */
export interface ModelServer {
  readonly address: string
  readonly port?: number
}

/** A language model: anything that streams. The stream ends with a `finish` chunk, or it was cut; errors are thrown. */
export interface Model {
  /** As prices and logs name it, such as `anthropic/claude-sonnet-4-6`. */
  readonly id: string
  /** Where its calls go, for traces: a host, and no path or query, which may hold a key. */
  readonly server?: ModelServer
  stream(request: ModelRequest): AsyncIterable<ModelChunk>
}

/** A model of another library, by its shape: what providers of the AI SDK give. An agent's `adaptModel` makes a model of it. */
export interface ForeignModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<unknown>
}

/** A model, one of the AI SDK as it is, or a string that a resolver knows, such as `anthropic/claude-sonnet-4-6`. */
export type ModelRef = Model | ForeignModel | (string & {})
/** What calls are made with. */
export type KnownModel = Model | string
/** Makes a model of one of another library. */
export type AdaptModel = (model: ForeignModel) => Model
/** Finds the model for a string; `principal` allows keys per tenant. */
export type ResolveModel = (
  ref: string,
  context: { principal: unknown },
) => Model | ForeignModel | Promise<Model | ForeignModel>

export function modelId(ref: KnownModel): string {
  return typeof ref === 'string' ? ref : ref.id
}

/** What was given in the place of a model, and how to make one of it where that is known. */
export function describeModel(value: unknown): string {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  const { doStream, doEmbed, doGenerate, modelId, languageModel } = (isObject ? value : {}) as Record<string, unknown>
  if (typeof languageModel === 'function')
    return 'a provider of the AI SDK was given: name a model of it, fromAiSdk(provider("…")) of @allium/providers'
  if (typeof doEmbed === 'function')
    return `the embedding model ${describe(modelId)} was given, which makes vectors and no text: give a language model`
  if (typeof doGenerate === 'function' && typeof doStream !== 'function')
    return `the model ${describe(modelId)} of images, speech or transcripts was given: give a language model`
  if (typeof doStream !== 'function') return `${describe(value)} was given`
  return `the AI SDK model ${describe(modelId)} was given: make it one with fromAiSdk(model) of @allium/providers`
}

/** The model or the name that was given, another library's model adapted; undefined for what is none. */
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
