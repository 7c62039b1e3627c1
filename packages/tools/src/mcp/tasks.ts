import type { CallToolResult, Client, RequestOptions } from '@modelcontextprotocol/client'
import type { Continuation } from './question.ts'
import type { Sdk } from './sdk.ts'

/** A task of a server, as both revisions describe it. */
export interface Task {
  readonly taskId: string
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  /** In milliseconds; the name in 2025-11-25 is the shorter one. */
  readonly pollIntervalMs?: number
  readonly pollInterval?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly inputRequests?: object
}

/** Waits for the tasks that calls of one connection become. */
export class Tasks {
  readonly #client: Client
  readonly #sdk: Sdk
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<void>

  constructor(client: Client, sdk: Sdk, pause: (ms: number, signal: AbortSignal) => Promise<void>) {
    this.#client = client
    this.#sdk = sdk
    this.#pause = pause
  }

  /** Calls a tool that runs only as a task, in revision 2025-11-25. */
  async call(params: { name: string }, options: RequestOptions): Promise<CallToolResult> {
    const request = { method: 'tools/call', params: { ...params, task: {} } }
    const { task } = (await this.#client.request(request, anything, options)) as { task: Task }
    return this.#untilEnd(task, options, async ({ status, taskId }) =>
      status === 'working' ? undefined : this.#resultOf(await this.#ask('tasks/result', { taskId }, options)),
    )
  }

  /** Waits for a task that the server made of a call by itself: https://modelcontextprotocol.io/extensions/tasks. */
  async wait(task: Task, options: RequestOptions, answered = new Set<string>()): Promise<Answer> {
    return this.#untilEnd<Answer>(task, options, async (now) => {
      const { status, taskId, result, error, inputRequests = {} } = now
      if (status === 'completed') return this.#resultOf(result)
      if (status === 'failed') throw new this.#sdk.ProtocolError(error?.code ?? 0, error?.message ?? 'The task failed.')
      const open = Object.entries(inputRequests).filter(([key]) => !answered.has(key))
      if (status !== 'input_required' || open.length === 0) return undefined
      return { resultType: status, inputRequests: Object.fromEntries(open), taskId }
    })
  }

  /** Gives a task the input that it waits for. */
  async goOn(taskId: string, { inputResponses }: Continuation, options: RequestOptions) {
    await this.#ask('tasks/update', { taskId, inputResponses }, options)
    return this.wait({ taskId, status: 'working' }, options, new Set(Object.keys(inputResponses)))
  }

  /** @param end returns undefined as long as the task goes on */
  async #untilEnd<T>(first: Task, options: RequestOptions, end: (task: Task) => Promise<T | undefined>): Promise<T> {
    const { taskId } = first
    const { signal = never } = options
    const cancel = () => void this.#ask('tasks/cancel', { taskId }, { timeout: cancelTimeout }).catch(() => {})
    signal.addEventListener('abort', cancel, { once: true })
    try {
      for (let task = first; ; task = (await this.#ask('tasks/get', { taskId }, options)) as Task) {
        if (task.status === 'cancelled') throw new this.#sdk.ProtocolError(0, 'The task was cancelled.')
        const ended = await end(task)
        if (ended !== undefined) return ended
        const { pollIntervalMs = 1_000, pollInterval = pollIntervalMs } = task
        await this.#pause(Math.min(Math.max(pollInterval, minInterval), maxInterval), signal)
      }
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  #ask(method: string, params: Record<string, unknown>, options: RequestOptions): Promise<unknown> {
    return this.#client.request({ method, params }, anything, options)
  }

  async #resultOf(given: unknown): Promise<CallToolResult> {
    const read = await this.#sdk.specTypeSchemas.CallToolResult['~standard'].validate(given)
    if (read.issues === undefined) {
      // A result is complete, whatever it says.
      const { resultType: _, ...result } = read.value
      return result as CallToolResult
    }
    throw new this.#sdk.SdkError(this.#sdk.SdkErrorCode.InvalidResult, 'The result of a task is no result of a tool.')
  }
}

/** A result, or what the server asks for as input, unread. */
type Answer = CallToolResult | { readonly resultType: 'input_required'; readonly [key: string]: unknown }

const anything = {
  '~standard': { version: 1, vendor: 'allium', validate: (value: unknown) => ({ value }) },
} as const
const { signal: never } = new AbortController()
const [minInterval, maxInterval] = [100, 60_000]
const cancelTimeout = 5_000
