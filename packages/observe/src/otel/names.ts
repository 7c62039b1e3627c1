// Generated from ../../conventions by test/otel/names.test.ts. Change the tables there, and run that test with -u.

export type AttributeKey =
  | 'operation'
  | 'provider'
  | 'agent'
  | 'conversation'
  | 'compacted'
  | 'requestModel'
  | 'temperature'
  | 'topP'
  | 'maxTokens'
  | 'seed'
  | 'stop'
  | 'stream'
  | 'reasoningLevel'
  | 'outputType'
  | 'responseModel'
  | 'responseId'
  | 'finishReasons'
  | 'failureReasons'
  | 'firstChunk'
  | 'inputTokens'
  | 'outputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'reasoningTokens'
  | 'modality'
  | 'toolName'
  | 'toolType'
  | 'toolCallId'
  | 'toolDescription'
  | 'toolArguments'
  | 'toolResult'
  | 'toolDefinitions'
  | 'instructions'
  | 'inputMessages'
  | 'outputMessages'
  | 'isNested'
  | 'evaluation'
  | 'score'
  | 'label'
  | 'explanation'
  | 'serverAddress'
  | 'serverPort'
  | 'errorType'
  | 'exceptionType'
  | 'exceptionMessage'
  | 'user'
  | 'session'
  | 'tokenType'

export type SpanKey = 'turn' | 'inference' | 'tool'

export type MetricKey =
  | 'inferenceDuration'
  | 'firstChunk'
  | 'outputChunk'
  | 'inputTokens'
  | 'outputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'reasoningTokens'
  | 'inputTokensOfCall'
  | 'outputTokensOfCall'
  | 'turnDuration'
  | 'turnModelCalls'
  | 'turnToolCalls'
  | 'toolDuration'
  | 'tokens'

export type EventKey = 'exception' | 'evaluation'

/** The names of a version of the conventions. A row that it lacks is not emitted. */
export interface Conventions {
  readonly attributes: { readonly [Key in AttributeKey]?: string }
  /** The attributes of each span. */
  readonly spans: Readonly<Record<SpanKey, readonly AttributeKey[]>>
  readonly metrics: { readonly [Key in MetricKey]?: MetricNames }
  readonly events: { readonly [Key in EventKey]?: EventNames }
  /** How message parts without a type of their own are written. */
  readonly parts: PartNames
}

export interface MetricNames {
  readonly name: string
  readonly instrument: 'counter' | 'histogram'
  readonly unit: string
  readonly description: string
  readonly attributes: readonly AttributeKey[]
}

interface EventNames {
  readonly name: string
  readonly attributes: readonly AttributeKey[]
}

export interface PartNames {
  readonly fixed: object
  readonly kind: string
  readonly mediaType: string
}

export const latest: Conventions = {
  attributes: {
    operation: 'gen_ai.operation.name',
    provider: 'gen_ai.provider.name',
    agent: 'gen_ai.agent.name',
    conversation: 'gen_ai.conversation.id',
    compacted: 'gen_ai.conversation.compacted',
    requestModel: 'gen_ai.request.model',
    temperature: 'gen_ai.request.temperature',
    topP: 'gen_ai.request.top_p',
    maxTokens: 'gen_ai.request.max_tokens',
    seed: 'gen_ai.request.seed',
    stop: 'gen_ai.request.stop_sequences',
    stream: 'gen_ai.request.stream',
    reasoningLevel: 'gen_ai.request.reasoning.level',
    outputType: 'gen_ai.output.type',
    responseModel: 'gen_ai.response.model',
    responseId: 'gen_ai.response.id',
    finishReasons: 'gen_ai.response.finish_reasons',
    failureReasons: 'gen_ai.response.finish_reasons',
    firstChunk: 'gen_ai.response.time_to_first_chunk',
    inputTokens: 'gen_ai.usage.input_tokens',
    outputTokens: 'gen_ai.usage.output_tokens',
    cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
    cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
    reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
    modality: 'gen_ai.token.modality',
    toolName: 'gen_ai.tool.name',
    toolType: 'gen_ai.tool.type',
    toolCallId: 'gen_ai.tool.call.id',
    toolDescription: 'gen_ai.tool.description',
    toolArguments: 'gen_ai.tool.call.arguments',
    toolResult: 'gen_ai.tool.call.result',
    toolDefinitions: 'gen_ai.tool.definitions',
    instructions: 'gen_ai.system_instructions',
    inputMessages: 'gen_ai.input.messages',
    outputMessages: 'gen_ai.output.messages',
    isNested: 'gen_ai.invocation.is_nested',
    evaluation: 'gen_ai.evaluation.name',
    score: 'gen_ai.evaluation.score.value',
    label: 'gen_ai.evaluation.score.label',
    explanation: 'gen_ai.evaluation.explanation',
    serverAddress: 'server.address',
    serverPort: 'server.port',
    errorType: 'error.type',
    exceptionType: 'exception.type',
    exceptionMessage: 'exception.message',
    user: 'user.id',
    session: 'session.id',
  },
  spans: {
    turn: [
      'operation',
      'agent',
      'requestModel',
      'conversation',
      'maxTokens',
      'temperature',
      'topP',
      'stop',
      'seed',
      'outputType',
      'finishReasons',
      'failureReasons',
      'inputTokens',
      'outputTokens',
      'errorType',
      'instructions',
      'inputMessages',
      'outputMessages',
      'toolDefinitions',
    ],
    inference: [
      'operation',
      'provider',
      'requestModel',
      'conversation',
      'compacted',
      'maxTokens',
      'temperature',
      'topP',
      'stop',
      'seed',
      'outputType',
      'stream',
      'reasoningLevel',
      'responseId',
      'responseModel',
      'finishReasons',
      'failureReasons',
      'firstChunk',
      'inputTokens',
      'outputTokens',
      'cacheReadTokens',
      'cacheWriteTokens',
      'reasoningTokens',
      'serverAddress',
      'serverPort',
      'errorType',
      'instructions',
      'inputMessages',
      'outputMessages',
      'toolDefinitions',
    ],
    tool: [
      'operation',
      'agent',
      'conversation',
      'toolName',
      'toolType',
      'toolCallId',
      'toolDescription',
      'toolArguments',
      'toolResult',
      'errorType',
    ],
  },
  metrics: {
    inferenceDuration: {
      name: 'gen_ai.client.inference.duration',
      instrument: 'histogram',
      unit: 's',
      description: 'Time of a model call',
      attributes: [
        'operation',
        'provider',
        'requestModel',
        'responseModel',
        'serverAddress',
        'serverPort',
        'errorType',
      ],
    },
    firstChunk: {
      name: 'gen_ai.client.inference.time_to_first_chunk',
      instrument: 'histogram',
      unit: 's',
      description: 'Time until a model call sent its first chunk',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'serverAddress', 'serverPort'],
    },
    outputChunk: {
      name: 'gen_ai.client.inference.time_per_output_chunk',
      instrument: 'histogram',
      unit: 's',
      description: 'Time between two chunks of a model call',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'serverAddress', 'serverPort'],
    },
    inputTokens: {
      name: 'gen_ai.client.inference.usage.input_tokens',
      instrument: 'counter',
      unit: '{token}',
      description: 'Input tokens, with those from a cache',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'serverAddress', 'serverPort', 'modality'],
    },
    outputTokens: {
      name: 'gen_ai.client.inference.usage.output_tokens',
      instrument: 'counter',
      unit: '{token}',
      description: 'Output tokens, with those for reasoning',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'serverAddress', 'serverPort', 'modality'],
    },
    cacheReadTokens: {
      name: 'gen_ai.client.inference.usage.cache_read.input_tokens',
      instrument: 'counter',
      unit: '{token}',
      description: 'Input tokens read from a cache of the provider',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'serverAddress', 'serverPort', 'modality'],
    },
    cacheWriteTokens: {
      name: 'gen_ai.client.inference.usage.cache_write.input_tokens',
      instrument: 'counter',
      unit: '{token}',
      description: 'Input tokens written to a cache of the provider',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'serverAddress', 'serverPort', 'modality'],
    },
    reasoningTokens: {
      name: 'gen_ai.client.inference.usage.reasoning.output_tokens',
      instrument: 'counter',
      unit: '{token}',
      description: 'Output tokens for reasoning',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'serverAddress', 'serverPort', 'modality'],
    },
    inputTokensOfCall: {
      name: 'gen_ai.client.inference.operation.input_tokens',
      instrument: 'histogram',
      unit: '{token}',
      description: 'Input tokens of a model call',
      attributes: [
        'operation',
        'provider',
        'requestModel',
        'responseModel',
        'serverAddress',
        'serverPort',
        'errorType',
      ],
    },
    outputTokensOfCall: {
      name: 'gen_ai.client.inference.operation.output_tokens',
      instrument: 'histogram',
      unit: '{token}',
      description: 'Output tokens of a model call',
      attributes: [
        'operation',
        'provider',
        'requestModel',
        'responseModel',
        'serverAddress',
        'serverPort',
        'errorType',
      ],
    },
    turnDuration: {
      name: 'gen_ai.invocation.duration',
      instrument: 'histogram',
      unit: 's',
      description: 'Time of a turn',
      attributes: ['operation', 'agent', 'isNested', 'errorType'],
    },
    turnModelCalls: {
      name: 'gen_ai.invoke_agent.inference_calls',
      instrument: 'histogram',
      unit: '{inference_call}',
      description: 'Model calls of a turn',
      attributes: ['agent'],
    },
    turnToolCalls: {
      name: 'gen_ai.invoke_agent.tool_calls',
      instrument: 'histogram',
      unit: '{tool_call}',
      description: 'Tool calls of a turn',
      attributes: ['agent'],
    },
    toolDuration: {
      name: 'gen_ai.execute_tool.duration',
      instrument: 'histogram',
      unit: 's',
      description: 'Time of a tool call',
      attributes: ['toolName', 'toolType', 'agent', 'errorType'],
    },
  },
  events: {
    exception: { name: 'gen_ai.client.operation.exception', attributes: ['exceptionType', 'exceptionMessage'] },
    evaluation: {
      name: 'gen_ai.evaluation.result',
      attributes: ['evaluation', 'score', 'label', 'explanation', 'responseId', 'errorType'],
    },
  },
  parts: { fixed: { type: 'generic' }, kind: 'generic_type', mediaType: 'mime_type' },
}

export const v145: Conventions = {
  attributes: {
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
    finishReasons: 'gen_ai.response.finish_reasons',
    firstChunk: 'gen_ai.response.time_to_first_chunk',
    inputTokens: 'gen_ai.usage.input_tokens',
    outputTokens: 'gen_ai.usage.output_tokens',
    cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
    cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
    reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
    toolName: 'gen_ai.tool.name',
    toolType: 'gen_ai.tool.type',
    toolCallId: 'gen_ai.tool.call.id',
    toolDescription: 'gen_ai.tool.description',
    toolArguments: 'gen_ai.tool.call.arguments',
    toolResult: 'gen_ai.tool.call.result',
    instructions: 'gen_ai.system_instructions',
    inputMessages: 'gen_ai.input.messages',
    outputMessages: 'gen_ai.output.messages',
    tokenType: 'gen_ai.token.type',
    serverAddress: 'server.address',
    serverPort: 'server.port',
    errorType: 'error.type',
    user: 'user.id',
    session: 'session.id',
  },
  spans: {
    turn: [
      'operation',
      'agent',
      'provider',
      'requestModel',
      'conversation',
      'inputTokens',
      'outputTokens',
      'cacheReadTokens',
      'cacheWriteTokens',
      'reasoningTokens',
      'errorType',
    ],
    inference: [
      'operation',
      'provider',
      'requestModel',
      'conversation',
      'temperature',
      'topP',
      'maxTokens',
      'seed',
      'stop',
      'outputType',
      'responseId',
      'responseModel',
      'finishReasons',
      'firstChunk',
      'inputTokens',
      'outputTokens',
      'cacheReadTokens',
      'cacheWriteTokens',
      'reasoningTokens',
      'serverAddress',
      'serverPort',
      'errorType',
      'instructions',
      'inputMessages',
      'outputMessages',
    ],
    tool: [
      'operation',
      'toolName',
      'toolType',
      'toolCallId',
      'toolDescription',
      'toolArguments',
      'toolResult',
      'errorType',
    ],
  },
  metrics: {
    inferenceDuration: {
      name: 'gen_ai.client.operation.duration',
      instrument: 'histogram',
      unit: 's',
      description: 'Time of a model call',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'errorType'],
    },
    firstChunk: {
      name: 'gen_ai.client.operation.time_to_first_chunk',
      instrument: 'histogram',
      unit: 's',
      description: 'Time until a model call sent its first chunk',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel'],
    },
    tokens: {
      name: 'gen_ai.client.token.usage',
      instrument: 'histogram',
      unit: '{token}',
      description: 'Tokens of a model call',
      attributes: ['operation', 'provider', 'requestModel', 'responseModel', 'tokenType'],
    },
    turnDuration: {
      name: 'gen_ai.invoke_agent.duration',
      instrument: 'histogram',
      unit: 's',
      description: 'Time of a turn',
      attributes: ['operation', 'agent', 'errorType'],
    },
    toolDuration: {
      name: 'gen_ai.execute_tool.duration',
      instrument: 'histogram',
      unit: 's',
      description: 'Time of a tool call',
      attributes: ['operation', 'toolName', 'errorType'],
    },
  },
  events: {},
  parts: { fixed: {}, kind: 'type', mediaType: 'media_type' },
}
