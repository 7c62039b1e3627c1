import {
  type Agent,
  type AgentRun,
  AlliumError,
  type LayerEvent,
  type Message,
  type Session,
  type StreamEvent,
  type ToolDef,
} from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { anyTools } from './any-tools.ts'
import { Sources } from './citations.ts'
import { decisionsFrom, pendingFor } from './client-decisions.ts'
import { parseClientRequest, type StreamOptions } from './client-request.ts'
import { type TextPart, TextParts } from './text-parts.ts'
import { checkUiOptions, type UiStreamOptions, uiChunks } from './ui-chunks.ts'

export interface ToAiSdkAgentOptions {
  /** The session to continue, of the requesting principal. */
  session: Session<unknown>
  /** The approver on this page, as verified by the server; required for `approvals.canApprove`. @default the principal of the session */
  approver?: unknown
  /** Tools that the page runs with `onToolCall` or by its user; their calls are handed to the page. @default none */
  clientTools?: readonly ToolDef[]
}

const optionKeys: KeysOf<ToAiSdkAgentOptions> = { session: true, approver: true, clientTools: true }

/** An AI SDK agent, by shape: `Agent` of `ai` 6 and 7, for use with their functions. */
export interface AiSdkAgent {
  readonly version: 'agent-v1'
  readonly id: string | undefined
  readonly tools: {}
  generate(options: never): Promise<never>
  stream(options: never): Promise<never>
}

/**
 * Returns an agent for `createAgentUIStreamResponse` of `ai` 6 and 7, for one request: text, reasoning, tools, steps, files,
 * sources and approvals of the session's next run.
 *
 * Of the client's messages it uses only the newest user message, or else the answers to approvals that the session waits for. History
 * and state come from the session. It streams with `onRetryAfterOutput: 'fail'`, because pages of `ai` 6 cannot retract displayed text. Leaving
 * the stream aborts the run.
 *
 * @throws AlliumError (its `stream`, before anything has run) `approval.forged`, `approval.used`, `request.invalid`, `run.options`,
 * and the errors with which the run is rejected
 * @example
 * createAgentUIStreamResponse({ agent: toAiSdkAgent(agent, { session: agent.session({ id, principal }) }), uiMessages })
 */
export function toAiSdkAgent(agent: Pick<Agent, 'name'>, adapterOptions: ToAiSdkAgentOptions): AiSdkAgent {
  checkOptions(adapterOptions ?? null, optionKeys, 'toAiSdkAgent()', 'options.invalid')
  return {
    version: 'agent-v1',
    id: agent.name,
    tools: anyTools,
    generate: () =>
      Promise.reject(
        new AlliumError(
          'run.options',
          'An Allium agent only streams to the AI SDK. For a whole answer, await session.run(input).',
        ),
      ),
    stream: (options: StreamOptions) => stream(adapterOptions, options) as Promise<never>,
  }
}

async function stream(
  { session, approver, clientTools }: ToAiSdkAgentOptions,
  options: StreamOptions,
): Promise<object> {
  checkStreamOptions(options)
  const clientRequest = parseClientRequest(options)
  await session.open()
  const runOptions = { onRetryAfterOutput: 'fail' as const, signal: options.abortSignal }
  const tools = clientTools ?? session.snapshot().suspension?.clientTools
  const clientDecisions =
    clientRequest.input === undefined ? await decisionsFrom(session, clientRequest.answers, approver) : undefined
  const run =
    clientDecisions === undefined
      ? session.run(clientRequest.input as Message, { ...runOptions, clientTools })
      : session.resume(clientDecisions.decisions, approver === undefined ? runOptions : { ...runOptions, approver })
  const events = run[Symbol.asyncIterator]()
  // Reads the first event here, so that a rejection occurs before the response begins.
  const parts = toStream(
    partsOf(await events.next(), events, run, new TextParts(clientDecisions?.calls, tools), (event) =>
      withVisiblePending(session, approver, event),
    ),
    () => events.return?.(),
  )
  return {
    stream: parts,
    fullStream: parts,
    toUIMessageStream(uiOptions: UiStreamOptions = {}) {
      checkUiOptions(uiOptions)
      const sources = new Sources()
      return parts.pipeThrough(
        new TransformStream({
          transform(part: TextPart, controller) {
            for (const chunk of uiChunks(part, uiOptions, sources)) controller.enqueue(chunk)
          },
        }),
      )
    },
  }
}

type Events = AsyncIterator<StreamEvent | LayerEvent, undefined>

async function* partsOf(
  first: IteratorResult<StreamEvent | LayerEvent, undefined>,
  events: Events,
  run: AgentRun<unknown>,
  parts: TextParts,
  toDisplay: (event: StreamEvent) => Promise<StreamEvent>,
): AsyncGenerator<TextPart> {
  try {
    for (let next = first; next.done !== true; next = await events.next())
      yield* parts.of(await toDisplay(next.value as StreamEvent))
    await run
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) yield { type: 'error', error }
  }
}

/** Replaces the pending calls of a suspended turn with the approver's view of them. */
async function withVisiblePending(
  session: Session<unknown>,
  approver: unknown,
  event: StreamEvent,
): Promise<StreamEvent> {
  if (event.type !== 'turn:end' || event.path !== undefined || event.pending === undefined) return event
  return { ...event, pending: await pendingFor(session, approver) }
}

function toStream(parts: AsyncGenerator<TextPart>, onCancel: () => unknown): ReadableStream<TextPart> {
  return new ReadableStream<TextPart>({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await onCancel()
    },
  })
}

const supportedOptions = new Set(['prompt', 'messages', 'abortSignal'])

/** @throws AlliumError `run.options` for options that the session's run does not support */
function checkStreamOptions(options: StreamOptions): void {
  const unknown = Object.keys(options).filter((name) => options[name] !== undefined && !supportedOptions.has(name))
  if (unknown.length === 0) return
  throw new AlliumError(
    'run.options',
    `An Allium agent does not support ${unknown.join(', ')} of the AI SDK. Use layers and options of the agent instead (guard.timeout, ctx.pipe, agent.on).`,
  )
}
