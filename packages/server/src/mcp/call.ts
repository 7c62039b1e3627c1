import type { Decision, PendingCall } from '@allium/core'
import type { Host } from '../host.ts'
import { blockedProblem, problemOf } from '../http/problem.ts'
import { openedPending } from '../native/waiting.ts'
import type { Answering } from '../run/answering.ts'
import { type Answer, resultOf } from '../run/result.ts'
import type { Visit } from '../visit.ts'

/** What a client of MCP asks of an agent. */
export interface McpAsked {
  readonly asks: Visit
  readonly message: string
  readonly sessionId: string
  readonly signal: AbortSignal
  /** Tells how far the run is. */
  progress(message: string): void
  /** Asks the person at the client; absent where that is not switched on, or the client cannot. */
  decide?: ((call: PendingCall) => Promise<Decision>) | undefined
}

/** A run as the result of a tool: https://modelcontextprotocol.io/specification/2025-11-25/server/tools */
export async function callAgent(host: Host, asked: McpAsked): Promise<ToolResult> {
  const { asks, sessionId, decide } = asked
  const own = { ...asks, sessionId, onDisconnect: 'abort' } as const
  try {
    let answer = await run(await host.runs.begin({ ...own, input: asked.message }), asked)
    while (answer.status === 'suspended' && decide !== undefined && !asked.signal.aborted) {
      const decisions: Record<string, Decision> = {}
      for (const call of await openedPending(host, asks, sessionId, answer.pending))
        decisions[call.callId] = await decide(call)
      answer = await run(await host.runs.begin({ ...own, decisions }), asked)
    }
    return resultFrom(answer)
  } catch (error) {
    const { code, message } = problemOf(error, host.clock.now())
    host.logger.warn('A call of an agent by MCP has failed.', { code })
    return failed(message, { sessionId, status: 'failed', code })
  }
}

interface ToolResult {
  [field: string]: unknown
  content: { type: 'text'; text: string }[]
  structuredContent: Record<string, unknown>
  isError?: true
}

async function run(pump: Answering, { signal, progress }: McpAsked): Promise<Answer> {
  const told = tellProgress(pump, progress, signal).catch(() => {})
  const answer = await resultOf(pump, signal)
  await told
  return answer
}

async function tellProgress(pump: Answering, progress: (message: string) => void, signal: AbortSignal): Promise<void> {
  const entries = pump.entries(signal)
  for (let entry = await entries.next(); entry !== undefined; entry = await entries.next()) {
    const { event } = entry
    if (event.type === 'step:start') progress(`Step ${(event as { stepIndex: number }).stepIndex + 1}`)
    if (event.type === 'tool:start') progress(`Tool ${(event as { name: string }).name}`)
  }
}

function resultFrom(answer: Answer): ToolResult {
  const { sessionId, status, text, reason, code, pending } = answer
  const structured = { sessionId, status, ...(typeof code === 'string' && { code }) }
  if (status === 'completed' || status === 'stopped')
    return { content: [{ type: 'text', text }], structuredContent: structured }
  if (status === 'suspended') {
    const names = pending.map(({ name }) => name).join(', ')
    return failed(`${text}\nA person is to decide first about: ${names}.`.trim(), structured)
  }
  const told = blockedProblem(answer)?.message ?? (typeof reason === 'string' ? reason : `The run was ${status}.`)
  return failed(told, structured)
}

function failed(text: string, structuredContent: Record<string, unknown>): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent, isError: true }
}
