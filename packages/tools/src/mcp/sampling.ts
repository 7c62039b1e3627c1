import {
  Agent,
  AlliumError,
  defineMiddleware,
  delegate,
  type FinishReason,
  type Logger,
  type Message,
  type ModelRef,
  modelOf,
  type Part,
  type Settings,
  type ToolExecution,
} from '@allium/core'
import type { CreateMessageRequest, CreateMessageResult } from '@modelcontextprotocol/sdk/types.js'

/** What a server may ask of the agent's model. */
export interface McpSamplingOptions {
  /** Who answers. @default the agent's model */
  model?: ModelRef | undefined
  /** Output tokens of one answer, whatever the server asks for. @default 4096 */
  maxTokens?: number | undefined
  /** Answers that one call of a tool may ask for. @default 10 */
  perCall?: number | undefined
}

/** https://modelcontextprotocol.io/specification/2025-11-25/client/sampling */
export type SamplingRequest = CreateMessageRequest['params']
export type SamplingAnswer = CreateMessageResult

/**
 * Answers a server that asks for a model, in the middle of a call: as a sub-agent of that call does, so that guards, meters and
 * budgets with `inherit` stand around the model call, and its usage is the run's. It has neither tools nor history.
 */
export class Sampling {
  readonly #name: string
  readonly #options: McpSamplingOptions
  readonly #logger: Logger
  #agent: Agent | undefined

  constructor(name: string, options: McpSamplingOptions, logger: Logger) {
    this.#name = name
    this.#options = options
    this.#logger = logger
  }

  /** @param nth which it is in its call, from 1 @throws what the server is told as a refusal */
  async answer(ctx: ToolExecution, params: SamplingRequest, nth: number): Promise<SamplingAnswer> {
    const { perCall = 10 } = this.#options
    if (nth > perCall) throw this.#refusedError(`it asks more than ${perCall} times in one call`)
    const input = params.messages.map((message) => this.#messageOf(message))
    if (input.at(-1)?.role !== 'user') throw this.#refusedError('its last message is not one of the user')
    const recorder = responseRecorder(params)
    const result = await delegate(ctx, this.#agentFor(ctx), input, {
      settings: this.#settingsOf(params),
      use: [recorder.layer],
    })
    if (result?.status !== 'completed')
      throw this.#refusedError(`the run of its request was ${result?.status ?? 'not run'}`)
    return { role: 'assistant', content: { type: 'text', text: result.text }, ...recorder.told }
  }

  #agentFor(ctx: ToolExecution): Agent {
    const { model } = this.#options
    const agentOptions = modelOf(ctx)
    this.#agent ??= new Agent({
      ...agentOptions,
      ...(model !== undefined && { model }),
      name: `mcp:${this.#name}`,
      logger: this.#logger,
      maxSteps: 1,
    })
    return this.#agent
  }

  #settingsOf({ maxTokens, temperature, stopSequences }: SamplingRequest): Settings {
    const { maxTokens: maxOutputTokens = 4096 } = this.#options
    return {
      maxOutputTokens: Math.min(maxTokens, maxOutputTokens),
      ...(temperature !== undefined && { temperature }),
      ...(stopSequences !== undefined && { stop: stopSequences }),
    }
  }

  #messageOf({ role, content }: SamplingRequest['messages'][number]): Message {
    const parts = (Array.isArray(content) ? content : [content]).map((part): Part => {
      if (part.type === 'text') return { type: 'text', text: part.text }
      if (part.type === 'image' && role === 'user') return { type: 'image', data: part.data, mediaType: part.mimeType }
      throw this.#refusedError(`it holds a part of the type "${part.type}"`)
    })
    return { role, content: parts }
  }

  #refusedError(reason: string): AlliumError {
    const message = `The MCP server "${this.#name}" asked for an answer of the model, which is refused: ${reason}.`
    this.#logger.warn(message)
    return new AlliumError('mcp.refused', message)
  }
}

/** The request's own system message, and what the server is told of the answer besides its text. */
function responseRecorder({ systemPrompt }: SamplingRequest) {
  const responseInfo = { model: '', stopReason: 'endTurn' }
  const layer = defineMiddleware({
    name: 'mcp:sampling',
    async model(ctx, next) {
      if (systemPrompt !== undefined) ctx.addSystemMessage(systemPrompt)
      const response = await next()
      responseInfo.model = response.model
      responseInfo.stopReason = stopReasons[response.finishReason] ?? 'endTurn'
      return response
    },
  })
  return { told: responseInfo, layer }
}

const stopReasons: Partial<Record<FinishReason, string>> = { length: 'maxTokens' }
