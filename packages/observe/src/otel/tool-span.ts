import type { ToolContext, ToolResult } from '@allium/core'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { knownTool } from '../known-tool.ts'
import { CallSpan } from './call-span.ts'
import { argumentsContent, resultContent } from './content.ts'
import { alliumNames } from './conventions.ts'
import { setSpanError } from './span-error.ts'
import type { OpenSpan, TurnSpans } from './turn-spans.ts'

/** The span of a tool call. While it is open, the turn of a sub-agent in the tool finds it. */
export class ToolSpan extends CallSpan<ToolResult> {
  readonly #callId: string
  readonly #running: Map<string, OpenSpan>

  constructor(ctx: ToolContext, turns: TurnSpans) {
    const name = knownTool(ctx)
    super(ctx, turns, {
      span: 'tool',
      operation: 'execute_tool',
      subject: name,
      kind: SpanKind.INTERNAL,
      values: {
        agent: ctx.agent.name,
        conversation: ctx.sessionId,
        toolName: name,
        toolType: 'function',
        toolCallId: ctx.callId,
        toolDescription: ctx.tool.description || undefined,
        ...(turns.settings.content && argumentsContent(ctx)),
      },
    })
    this.#callId = ctx.callId
    this.#running = turns.of(ctx).tools
    this.#running.set(ctx.callId, this)
  }

  returned(result: ToolResult): void {
    const { status, error } = result
    this.span.setAttribute(alliumNames.status, status)
    if (this.settings.content) this.set(resultContent(result))
    if (status !== 'error') return
    if (error !== undefined) return setSpanError(this.span, error, this.settings)
    this.set({ errorType: 'tool_error' })
    this.span.setStatus({ code: SpanStatusCode.ERROR })
  }

  override end(): Promise<void> | undefined {
    if (this.#running.get(this.#callId) === this) this.#running.delete(this.#callId)
    return super.end()
  }
}
