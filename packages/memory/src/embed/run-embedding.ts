import {
  Agent,
  AlliumError,
  delegate,
  isBlockError,
  type ModelContext,
  type ModelResponse,
  type NextFor,
  type ToolExecution,
  type TurnView,
} from '@allium/core'
import type { EmbeddingCall } from './embedding-call.ts'

/** How a layer or a tool calls a model: through the inner layers, or as a sub-agent. */
export type Through = ToolExecution | NextFor<ModelResponse>

/** The longest time that a question waits for embeddings, in milliseconds. */
const timeout = 10_000

const current = new WeakMap<object, EmbeddingCall>()

/** Makes the embedding call of the turn, if one is running, in place of the model's. */
export async function enterEmbedding(ctx: ModelContext, next: NextFor<ModelResponse>): Promise<ModelResponse> {
  return current.get(ctx.metadata)?.enter(ctx, next) ?? next()
}

/** Makes a call so that the meters of the turn count it, and its abort reaches it. Throws if it fails or takes too long. */
export async function runEmbedding(
  call: EmbeddingCall,
  question: string,
  { ctx, layer, through }: { ctx: Pick<TurnView, 'clock' | 'signal'>; layer: string; through: Through },
): Promise<void> {
  const controller = new AbortController()
  const stopTimer = ctx.clock.after(timeout, () =>
    controller.abort(new AlliumError('layer.timeout', `The embedding of "${layer}" took longer than ${timeout} ms.`)),
  )
  const { signal } = controller
  try {
    if (typeof through === 'function')
      await throughLayers(call, question, ctx as ModelContext, () => through({ signal }))
    else await throughAgent(call, question, layer, through, signal)
  } finally {
    stopTimer()
  }
  if (call.error !== undefined) throw call.error
}

async function throughLayers(
  call: EmbeddingCall,
  question: string,
  ctx: ModelContext,
  next: () => Promise<ModelResponse>,
): Promise<void> {
  const { messages, tools, settings, toolChoice, responseFormat } = ctx.request
  const { headers } = settings
  current.set(ctx.metadata, call)
  try {
    // The turn keeps a cache from taking it for the call of another turn.
    const system = `${ctx.turnId}\n${call.system}`
    ctx.messages = [
      { role: 'system', content: system },
      { role: 'user', content: question },
    ]
    ctx.toolDefs = []
    ctx.toolChoice = 'auto'
    ctx.responseFormat = { type: 'text' }
    ctx.settings = { maxOutputTokens: 1, ...(headers && { headers }) }
    await next()
  } finally {
    current.delete(ctx.metadata)
    ctx.messages = [...messages]
    ctx.toolDefs = [...tools]
    ctx.toolChoice = toolChoice
    ctx.responseFormat = responseFormat
    ctx.settings = settings
  }
}

async function throughAgent(
  call: EmbeddingCall,
  question: string,
  layer: string,
  execution: ToolExecution,
  signal: AbortSignal,
): Promise<void> {
  const agent = new Agent({
    name: `${layer}:embed`,
    model: call,
    instructions: call.system,
    maxSteps: 1,
    settings: { maxOutputTokens: 1 },
  })
  const result = await delegate(execution, agent, question, { signal })
  if (result?.status === 'completed') return
  throw new AlliumError(
    'model.failed',
    `The embedding of "${layer}" ended ${result?.status ?? 'suspended'}: ${result?.reason ?? 'a layer suspended it'}`,
  )
}

/** Whether an error ends the turn, and is not one of the embedding alone. */
export function endsTurn(error: unknown, { signal }: Pick<TurnView, 'signal'>): boolean {
  return signal.aborted || isBlockError(error)
}
