import type { Decision, PendingCall } from '@allium/core'
import { pendingForReader } from '../approvals/pending-calls.ts'
import type { RunControl, Runtime, StoreReader } from '../host/host.ts'
import { blockedProblem, problemOf } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'
import { type Answer, awaitAnswer, type RunHandle } from '../run/run-handle.ts'

/** The call of an agent by an MCP client. */
export interface McpCall {
  readonly caller: Caller
  readonly message: string
  readonly sessionId: string
  readonly signal: AbortSignal
  /** Reports the progress of the run. */
  progress(message: string): void
  /** Asks the person at the client. Undefined if elicitation is off or the client does not support it. */
  decide?: ((call: PendingCall) => Promise<Decision>) | undefined
}

/** Runs an agent and returns the result of a tool: https://modelcontextprotocol.io/specification/2025-11-25/server/tools */
export async function callAgent(host: StoreReader & RunControl & Runtime, mcpCall: McpCall): Promise<ToolResult> {
  const { caller, sessionId, decide } = mcpCall
  const target = { ...caller, sessionId, onDisconnect: 'abort' } as const
  try {
    let answer = await run(await host.runs.start({ ...target, input: mcpCall.message }), mcpCall)
    while (answer.status === 'suspended' && decide !== undefined && !mcpCall.signal.aborted) {
      const decisions: Record<string, Decision> = {}
      for (const call of await pendingForReader(host, caller, sessionId, answer.pending))
        decisions[call.callId] = await decide(call)
      answer = await run(await host.runs.start({ ...target, decisions }), mcpCall)
    }
    return toToolResult(answer)
  } catch (error) {
    const { code, message } = problemOf(error, host.clock.now())
    host.logger.warn('A call of an agent by MCP has failed.', { code })
    return errorResult(message, { sessionId, status: 'failed', code })
  }
}

interface ToolResult {
  [field: string]: unknown
  content: { type: 'text'; text: string }[]
  structuredContent: Record<string, unknown>
  isError?: true
}

async function run(handle: RunHandle, { signal, progress }: McpCall): Promise<Answer> {
  const progressDone = reportProgress(handle, progress, signal).catch(() => {})
  const answer = await awaitAnswer(handle, signal)
  await progressDone
  return answer
}

async function reportProgress(
  handle: RunHandle,
  progress: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const entries = handle.entries(signal)
  for (let entry = await entries.next(); entry !== undefined; entry = await entries.next()) {
    const { event } = entry
    if (event.type === 'step:start') progress(`Step ${(event as { stepIndex: number }).stepIndex + 1}`)
    if (event.type === 'tool:start') progress(`Tool ${(event as { name: string }).name}`)
  }
}

function toToolResult(answer: Answer): ToolResult {
  const { sessionId, status, finishReason, text, reason, code, pending } = answer
  const structured = {
    sessionId,
    status,
    ...(typeof code === 'string' && { code }),
    ...(finishReason && { finishReason }),
  }
  if (status === 'completed' || status === 'stopped')
    return { content: [{ type: 'text', text }], structuredContent: structured }
  if (status === 'suspended') {
    const names = pending.map(({ name }) => name).join(', ')
    return errorResult(`${text}\nA person is to decide first about: ${names}.`.trim(), structured)
  }
  const message = blockedProblem(answer)?.message ?? (typeof reason === 'string' ? reason : `The run was ${status}.`)
  return errorResult(message, structured)
}

function errorResult(text: string, structuredContent: Record<string, unknown>): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent, isError: true }
}
