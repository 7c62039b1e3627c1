import type { ToolContext, ToolResult } from '@allium/core'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { knownTool } from '../known-tool.ts'
import { CallSpan } from './call-span.ts'
import { argumentsContent, resultContent } from './content.ts'
import { alliumNames, names } from './names.ts'
import { setSpanError } from './span-error.ts'
import type { OpenTool, OpenTurn, TurnSpans } from './turn-spans.ts'

/** The span of a tool call. While it is open, the turn of a sub-agent in the tool finds it. */
export class ToolSpan extends CallSpan<ToolResult> implements OpenTool {
  inner?: OpenTurn
  readonly #callId: string
  readonly #running: Map<string, OpenTool>

  constructor(ctx: ToolContext, turns: TurnSpans) {
    const name = knownTool(ctx)
    super(ctx, turns, {
      operation: 'execute_tool',
      subject: name,
      kind: SpanKind.INTERNAL,
      attributes: {
        [names.toolName]: name,
        [names.toolType]: 'function',
        [names.toolCallId]: ctx.callId,
        ...(ctx.tool.description !== '' && { [names.toolDescription]: ctx.tool.description }),
        ...(turns.content && argumentsContent(ctx)),
      },
    })
    this.#callId = ctx.callId
    this.#running = turns.of(ctx).tools
    this.#running.set(ctx.callId, this)
  }

  returned(result: ToolResult): void {
    const { status, error } = result
    this.span.setAttribute(alliumNames.status, status)
    if (this.content) this.span.setAttributes(resultContent(result))
    if (status !== 'error') return
    if (error !== undefined) return setSpanError(this.span, error, this.content)
    this.span.setAttribute(names.errorType, 'tool_error').setStatus({ code: SpanStatusCode.ERROR })
  }

  override end(): void {
    if (this.#running.get(this.#callId) === this) this.#running.delete(this.#callId)
    super.end()
  }
}
