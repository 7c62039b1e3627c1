import {
  Agent,
  AlliumError,
  defineMiddleware,
  type delegate,
  type FinishReason,
  type Logger,
  type Message,
  type ModelRef,
  type Part,
  type Settings,
  type ToolExecution,
} from '@allium/core'
import type { modelOf } from '@allium/core/internal'
import type { CreateMessageRequest, CreateMessageResult } from '@modelcontextprotocol/client'

/** The limits on a server's use of the agent's model. */
export interface McpSamplingOptions {
  /** The model that answers. @default the agent's model */
  model?: ModelRef | undefined
  /** The maximum output tokens of one answer, whatever the server requests. @default 4096 */
  maxOutputTokens?: number | undefined
  /** The maximum number of answers in one tool call. @default 10 */
  perCall?: number | undefined
}

interface Core {
  readonly delegate: typeof delegate
  readonly modelOf: typeof modelOf
}

/** https://modelcontextprotocol.io/specification/2025-11-25/client/sampling */
export type SamplingRequest = CreateMessageRequest['params']
export type SamplingAnswer = CreateMessageResult

/**
 * Answers a server that requests the model during a call. It runs as a sub-agent of the call, so guards, meters and budgets with
 * `inherit` wrap the model call, and its usage is the run's. It has no tools and no history.
 */
export class Sampling {
  readonly #name: string
  readonly #options: McpSamplingOptions
  readonly #logger: Logger
  readonly #core: Core
  #agent: Agent | undefined

  constructor(name: string, options: McpSamplingOptions, logger: Logger, core: Core) {
    this.#name = name
    this.#options = options
    this.#logger = logger
    this.#core = core
  }

  /** @param nth the number of the request in its call, from 1 @throws the error that the server receives as a refusal */
  async answer(ctx: ToolExecution, params: SamplingRequest, nth: number): Promise<SamplingAnswer> {
    const { perCall = 10 } = this.#options
    if (nth > perCall) throw this.#refusedError(`it asks more than ${perCall} times in one call`)
    const input = params.messages.map((message) => this.#messageOf(message))
    if (input.at(-1)?.role !== 'user') throw this.#refusedError('its last message is not a user message')
    const recorder = responseRecorder(params)
    const result = await this.#core.delegate(ctx, this.#agentFor(ctx), input, {
      settings: this.#settingsOf(params),
      use: [recorder.layer],
    })
    if (result?.status !== 'completed')
      throw this.#refusedError(`the run of its request was ${result?.status ?? 'not run'}`)
    return { role: 'assistant', content: { type: 'text', text: result.text }, ...recorder.responseInfo }
  }

  #agentFor(ctx: ToolExecution): Agent {
    const { model } = this.#options
    const agentOptions = this.#core.modelOf(ctx)
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
    const { maxOutputTokens = 4096 } = this.#options
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
      throw this.#refusedError(`it contains a part of the type "${part.type}"`)
    })
    return { role, content: parts }
  }

  #refusedError(reason: string): AlliumError {
    const message = `A sampling request of the MCP server "${this.#name}" was refused: ${reason}.`
    this.#logger.warn(message)
    return new AlliumError('mcp.refused', message)
  }
}

/** Sets the request's system message, and records the answer's model and stop reason for the server. */
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
  return { responseInfo, layer }
}

const stopReasons: Partial<Record<FinishReason, string>> = { length: 'maxTokens' }
