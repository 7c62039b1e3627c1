import { type ScriptedStep, scriptedModel } from '../../testing/src/index.ts'
import {
  Agent,
  type AgentEvents,
  type AgentOptions,
  type AgentRun,
  type AlliumError,
  type AnyTool,
  type LayerEvent,
  type Message,
  type ModelChunk,
  type Part,
  type RunOptions,
  type RunResult,
  type ScopeName,
  type SessionOptions,
  type StreamEvent,
  type ToolExecution,
  type Usable,
} from '../src/index.ts'

export const scopes: readonly ScopeName[] = ['agent', 'session', 'turn', 'model', 'tool']

/** Steps of a turn that calls the tool "work" once. */
export const oneCall: ScriptedStep[] = [{ toolCalls: [{ name: 'work', callId: 'c1' }] }, 'done']

export function tool(
  name: string,
  // biome-ignore lint/suspicious/noExplicitAny: each test's tool knows its arguments
  execute: (args: any, ctx: ToolExecution) => unknown = () => 'worked',
  more: Partial<AnyTool> = {},
): AnyTool {
  return { name, description: `The tool ${name}`, jsonSchema: { type: 'object' }, execute, ...more }
}

/** An agent around a scripted model; what it logs is kept. */
export function build(
  steps: readonly ScriptedStep[],
  layers: readonly Usable[] = [],
  options: Partial<AgentOptions> = {},
) {
  const model = scriptedModel(steps)
  const log: { message: string; details?: Record<string, unknown> | undefined }[] = []
  const note = (message: string, details?: Record<string, unknown>) => void log.push({ message, details })
  const agent = new Agent({ model, logger: { warn: note, error: note }, ...options })
  agent.use(layers)
  return { agent, model, log }
}

export interface TurnOptions extends Partial<AgentOptions> {
  input?: string | Message[]
  of?: SessionOptions
  run?: RunOptions
}

/** One turn in one session, awaited; its events are read afterwards. */
export async function turn(
  steps: readonly ScriptedStep[],
  layers: readonly Usable[] = [],
  { input = 'hi', of, run: runOptions, ...options }: TurnOptions = {},
) {
  const { agent, model, log } = build(steps, layers, options)
  const ends: AgentEvents['turn:end'][] = []
  agent.on('turn:end', (event) => ends.push(event))
  const session = agent.session(of)
  const run = session.run(input, runOptions)
  const { result, error } = await settled(run)
  return { agent, model, log, session, result, error, ends, ...(await read(run)) }
}

/** What became of a run, without a throw. */
export async function settled(
  run: PromiseLike<RunResult<object>>,
): Promise<{ result: RunResult<Record<string, unknown>> | undefined; error: Failure | undefined }> {
  try {
    return { result: (await run) as RunResult<Record<string, unknown>>, error: undefined }
  } catch (error) {
    return { result: undefined, error: error as Failure }
  }
}
export type Failure = AlliumError & { partial: AgentRun['partial']; suppressed?: unknown[]; reason?: unknown }

/** What a promise rejects with. */
export async function failure(promise: PromiseLike<unknown> | (() => unknown)): Promise<Failure> {
  try {
    await (typeof promise === 'function' ? promise() : promise)
  } catch (error) {
    return error as Failure
  }
  throw new Error('Expected a rejection.')
}

/** Every event of a run, and the text that a screen which honours resets would show. */
export async function read(run: AsyncIterable<StreamEvent | LayerEvent>) {
  const events: (StreamEvent | LayerEvent)[] = []
  let shown = ''
  let all = ''
  try {
    for await (const event of run) {
      events.push(event)
      if (event.type === 'model:reset') shown = ''
      if (event.type === 'step:start') shown = ''
      if (event.type !== 'text-delta') continue
      shown += event.delta
      all += event.delta
    }
  } catch {
    // a run that failed ends its stream with its error, which the caller has from the run
  }
  return { events, shown, all }
}

export const types = (events: readonly { type: string }[]) => events.map(({ type }) => type)

/** The events of one type, with their fields. */
export const only = (events: readonly { type: string }[], type: string) =>
  events.filter((event) => event.type === type) as unknown as Record<string, unknown>[]

export function parts(messages: readonly Readonly<Message>[]): Part[] {
  return messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
}

/** The ids of calls and of results, as they stand in a conversation. */
export function traffic(messages: readonly Readonly<Message>[]): { calls: string[]; results: string[] } {
  const all = parts(messages)
  return {
    calls: all.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : [])),
    results: all.flatMap((part) => (part.type === 'tool-result' ? [part.callId] : [])),
  }
}

/** The tool results of a conversation by call id. */
export function results(messages: readonly Readonly<Message>[]): Record<string, string | Part[]> {
  return Object.fromEntries(
    parts(messages).flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part.content]] : [])),
  )
}

export const text = (delta: string): ModelChunk => ({ type: 'text-delta', delta })
export const assistantTexts = (messages: readonly Readonly<Message>[]) =>
  messages.flatMap((message) =>
    message.role !== 'assistant'
      ? []
      : [
          typeof message.content === 'string'
            ? message.content
            : message.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        ],
  )

/** A promise with its handles outside. */
export function gate<T = void>() {
  let open!: (value: T) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

/** Lets everything that needs no timer come to rest. */
export const rest = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/** Everything that can be reached from a value as text, for searches of what must not be there. */
export function reach(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? '' : String(value)
  if (seen.has(value)) return ''
  seen.add(value)
  const own = value instanceof Error ? `${value.name} ${value.message} ${value.stack} ${reach(value.cause, seen)}` : ''
  return (
    own +
    Object.entries(value)
      .map(([key, item]) => `${key} ${reach(item, seen)}`)
      .join(' ')
  )
}
