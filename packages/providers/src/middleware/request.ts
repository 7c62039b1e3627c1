import {
  AlliumError,
  type ModelContext,
  type ResponseFormat,
  type Settings,
  type ToolChoice,
  type ToolDef,
} from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import { toTool, toToolChoice } from '../call-options.ts'
import { dialectOf } from '../dialect.ts'
import { toPrompt } from '../prompt.ts'
import type { PromptPart } from '../prompt-context.ts'
import { ProviderTools } from '../provider-tools.ts'
import type { Params } from './ai-sdk-middleware.ts'
import { fromPrompt } from './from-prompt.ts'
import { keyOf } from './key-of.ts'
import { Origins } from './origins.ts'

/** Converts a model call to the AI SDK's form and back. Parts that a middleware does not change become their originals. */
export class Request {
  readonly params: Params
  readonly #keys: ReadonlyMap<string, string>
  readonly #origins = new Origins()
  readonly #tools: Map<string, ToolDef>
  readonly #ctx: ModelContext
  readonly #layer: string
  /** The settings from the outer layers; each call begins with them. */
  readonly #before: Pick<ModelContext, 'settings' | 'toolDefs' | 'toolChoice' | 'responseFormat'>
  #changed = false

  constructor(ctx: ModelContext, facade: AiSdkModel, layer: string) {
    const { messages, settings, tools, toolChoice, responseFormat } = ctx.request
    const dialect = dialectOf(facade)
    const providerTools = new ProviderTools(tools)
    const prompt = toPrompt(messages, {
      model: facade,
      dialect,
      tools: providerTools,
      urls: undefined,
      origin: this.#origins.note,
    })
    const { stop, reasoning, ...same } = settings
    const convertedTools = tools.map((tool) => toTool(tool, dialect))
    this.params = {
      prompt,
      ...same,
      ...(stop !== undefined && { stopSequences: stop }),
      ...(reasoning !== undefined && dialect.reasoning && { reasoning }),
      ...(tools.length > 0 && { tools: convertedTools, toolChoice: toToolChoice(toolChoice) }),
      ...(responseFormat.type === 'json' && { responseFormat }),
      abortSignal: ctx.signal,
    }
    this.#origins.seal()
    this.#tools = new Map(convertedTools.map((tool, at) => [keyOf(tool), tools[at] as ToolDef]))
    this.#keys = new Map(Object.entries(this.params).map(([name, value]) => [name, keyOf(value)]))
    this.#before = { settings, toolDefs: [...tools], toolChoice, responseFormat }
    this.#messages = [...messages]
    this.#ctx = ctx
    this.#layer = layer
  }
  readonly #messages: ModelContext['messages']

  /** Applies the middleware's changes to the next call. */
  apply(params: Params): void {
    const names = new Set([...this.#keys.keys(), ...Object.keys(params)])
    const changed = [...names].filter(
      (name) => this.#keys.get(name) !== keyOf(params[name]) && this.#isTold(name, params),
    )
    if (this.#changed) this.#restore()
    if (changed.length === 0) return
    this.#changed = true
    for (const name of changed) this.#change(name, params[name])
  }

  #isTold(name: string, params: Params): boolean {
    return (
      name !== 'abortSignal' && name !== 'includeRawChunks' && !(params[name] === undefined && !this.#keys.has(name))
    )
  }

  #restore(): void {
    Object.assign(this.#ctx, this.#before, { messages: [...this.#messages] })
  }

  #change(name: string, value: unknown): void {
    const ctx = this.#ctx
    if (name === 'prompt') ctx.messages = fromPrompt(this.#list(name, value), this.#origins, this.#layer)
    else if (name === 'tools') ctx.toolDefs = this.#list(name, value ?? []).map((tool) => this.#toolDef(tool))
    else if (name === 'toolChoice') ctx.toolChoice = toChoice(value as PromptPart | undefined)
    else if (name === 'responseFormat') ctx.responseFormat = (value as ResponseFormat | undefined) ?? { type: 'text' }
    else ctx.settings = withSetting(ctx.settings, name === 'stopSequences' ? 'stop' : name, value)
  }

  #list(name: string, value: unknown): PromptPart[] {
    if (Array.isArray(value)) return value
    const what = `Layer "${this.#layer}" (model) returned params whose ${name} is not an array. Return the given params with your changes.`
    throw new AlliumError('layer.result', what, { details: { layer: this.#layer, scope: 'model' } })
  }

  #toolDef(tool: PromptPart): ToolDef {
    const known = this.#tools.get(keyOf(tool))
    if (known !== undefined) return known
    const { name, description, inputSchema, providerOptions, strict, type, id, args } = tool as unknown as GivenTool
    const old = [...this.#tools.values()].find((each) => each.name === name)
    if (type !== 'function')
      return { description: '', jsonSchema: {}, ...old, name, providerExecuted: { id, args: args ?? {} } }
    return {
      ...old,
      name,
      description: description ?? '',
      jsonSchema: inputSchema,
      ...(providerOptions !== undefined && { providerOptions }),
      ...(strict !== undefined && { strict }),
    }
  }
}

/** A tool of a call, of either kind. */
interface GivenTool extends Pick<ToolDef, 'name' | 'providerOptions' | 'strict'> {
  type: string
  description?: string
  inputSchema: ToolDef['jsonSchema']
  id: string
  args?: Record<string, unknown>
}

function toChoice(choice: PromptPart | undefined): ToolChoice {
  if (choice === undefined) return 'auto'
  return choice.type === 'tool' ? { name: String(choice.toolName) } : (choice.type as 'auto' | 'none' | 'required')
}

function withSetting(settings: Settings, name: string, value: unknown): Settings {
  const { [name as keyof Settings]: _, ...others } = settings
  return value === undefined ? others : { ...others, [name]: value }
}
