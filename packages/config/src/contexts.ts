import type { Message, ToolDef } from '@allium/core'

/** What every hook has: the run that it stands in, and the way to end it. */
export interface LoopContext {
  /** The conversation so far, as copies. Where the hook is `beforeLoopBegin` or `afterLoopIteration`, what it holds afterwards is what the next model call starts from. */
  messages: Message[]
  /** Counts the steps of the turn from 0. */
  readonly iteration: number
  readonly maxIterations: number
  readonly sessionId: string
  /** Tokens of this turn so far. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
  /** Whether the turn goes on with one that waited for a human. */
  readonly resumed: boolean
  /** Ends the loop: nothing new begins, what runs is finished. */
  stop(reason?: string): void
  /** Aborts after `stop()`, and when the run is cancelled. */
  readonly signal: AbortSignal
}

interface InLoop {
  readonly loop: LoopContext
  stop(reason?: string): void
  readonly signal: AbortSignal
}

/** `beforeModelCall` may change the request; in `afterModelResponse` it tells what was sent. */
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
  /** `arguments` is JSON text; changed, it is what the tool gets. */
  readonly toolCall: { readonly id: string; readonly name: string; arguments: string }
  /** Refuses the call: the model gets the reason. */
  deny(reason: string): void
}

export interface ToolResultContext extends InLoop {
  readonly toolCall: { readonly id: string; readonly name: string; readonly arguments: string }
  /** What the model gets; changes reach it. */
  result: { readonly toolCallId: string; content: string; isError?: boolean }
}

export type ErrorPhase = 'model_call' | 'tool_execution' | 'stream'

export interface ErrorContext extends InLoop {
  readonly error: Error
  readonly phase: ErrorPhase
}

/** The hooks, and what each one gets. */
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

/** A hook as a function: what a file exports by default, and what an inline entry is. */
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
