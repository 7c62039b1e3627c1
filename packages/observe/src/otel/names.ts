/**
 * The names of OpenTelemetry's conventions for generative AI. They are in development: `semantic-conventions/incubating`
 * may rename them in any minor release, so they are copied here, and a test compares them.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai
 */
export const names = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  maxTokens: 'gen_ai.request.max_tokens',
  seed: 'gen_ai.request.seed',
  stop: 'gen_ai.request.stop_sequences',
  outputType: 'gen_ai.output.type',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  toolDescription: 'gen_ai.tool.description',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  instructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  errorType: 'error.type',
} as const

export const metricNames = {
  operationDuration: 'gen_ai.client.operation.duration',
  firstChunk: 'gen_ai.client.operation.time_to_first_chunk',
  tokenUsage: 'gen_ai.client.token.usage',
  agentDuration: 'gen_ai.invoke_agent.duration',
  toolDuration: 'gen_ai.execute_tool.duration',
} as const

/** Names for what the conventions do not cover. */
export const alliumNames = {
  turn: 'allium.turn.id',
  status: 'allium.status',
  attempt: 'allium.attempt',
  tenant: 'allium.tenant',
  estimated: 'allium.usage.estimated',
  replayed: 'allium.replayed',
} as const
