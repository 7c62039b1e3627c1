import type { Message, ToolDef } from '@allium/core'

/** The context of every hook: the run, and the method to end it. */
export interface LoopContext {
  /** Copies of the messages so far. After `beforeLoopBegin` or `afterLoopIteration`, the next model call starts from its content. */
  messages: Message[]
  /** Counts the steps of the turn from 0. */
  readonly iteration: number
  readonly maxIterations: number
  readonly sessionId: string
  /** Tokens of this turn so far. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
  /** Whether the turn resumes one that waited for a human. */
  readonly resumed: boolean
  /** Ends the loop: nothing new begins, and running work is finished. */
  stop(reason?: string): void
  /** Aborts after `stop()` and when the run is cancelled. */
  readonly signal: AbortSignal
}

interface InLoop {
  readonly loop: LoopContext
  stop(reason?: string): void
  readonly signal: AbortSignal
}

/** `beforeModelCall` may change the request; in `afterModelResponse` it is the request that was sent. */
export interface ModelCallContext extends InLoop {
  request: {
    model: string
    messages: Message[]
    tools?: ToolDef[]
    thinking?: 'low' | 'medium' | 'high'
  }
}

/** One piece of the model's answer. */
export type StreamChunk =
  | { type: 'text'; delta: string }
  | { type: 'thinking'; delta: string }
  | { type: 'tool_call_start'; id: string; name: string }
  | { type: 'tool_call_delta'; id: string; argsDelta: string }
  | { type: 'tool_call_end'; id: string }
  | { type: 'done'; usage?: { inputTokens: number; outputTokens: number } }

export interface StreamChunkContext extends InLoop {
  readonly chunk: StreamChunk
}

export interface ToolExecutionContext extends InLoop {
  /** `arguments` is JSON text; changes are passed to the tool. */
  readonly toolCall: { readonly id: string; readonly name: string; arguments: string }
  /** Denies the call; the model receives the reason. */
  deny(reason: string): void
}

export interface ToolResultContext extends InLoop {
  readonly toolCall: { readonly id: string; readonly name: string; readonly arguments: string }
  /** The result for the model; changes are passed on. */
  result: { readonly toolCallId: string; content: string; isError?: boolean }
}

export type ErrorPhase = 'model_call' | 'tool_execution' | 'stream'

export interface ErrorContext extends InLoop {
  readonly error: Error
  readonly phase: ErrorPhase
}

/** The context of each hook. */
export interface HookContexts {
  beforeLoopBegin: LoopContext
  beforeModelCall: ModelCallContext
  onStreamChunk: StreamChunkContext
  afterModelResponse: ModelCallContext
  beforeToolExecution: ToolExecutionContext
  afterToolExecution: ToolResultContext
  afterLoopIteration: LoopContext
  afterLoopComplete: LoopContext
  onError: ErrorContext
}

export type HookName = keyof HookContexts

/** A hook as a function: the default export of a file, or an inline entry. */
export type Hook<Name extends HookName> = (ctx: HookContexts[Name]) => unknown

export const hookNames = [
  'beforeLoopBegin',
  'beforeModelCall',
  'onStreamChunk',
  'afterModelResponse',
  'beforeToolExecution',
  'afterToolExecution',
  'afterLoopIteration',
  'afterLoopComplete',
  'onError',
] as const satisfies readonly HookName[]
