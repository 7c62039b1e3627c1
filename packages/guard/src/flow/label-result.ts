import type { FlowLabels, ToolContext, ToolResult } from '@allium/core'
import type { LabelBook, LabelState } from './label-book.ts'
import { toLabels } from './labels.ts'
import type { QuarantineReader } from './quarantine.ts'
import { unknownFlow } from './sinks.ts'

/** Adds the labels of a result to the session. The result of a quarantined tool is replaced by what the reader found in it. */
export async function labelResult(
  ctx: ToolContext<LabelState>,
  result: ToolResult,
  book: LabelBook,
  read: QuarantineReader,
): Promise<ToolResult> {
  if (result.status === 'denied') return result
  // The call was refused before any tool ran, so its result only describes the model's own output.
  if (ctx.invalid !== undefined && result.status === 'error') return { ...result, flow: result.flow ?? {} }
  const { name, flow: declared = unknownFlow } = ctx.tool
  const toolFlow = ctx.plan.flowOf(name)
  const isHandoff = toolFlow !== undefined && toolFlow !== ctx.tool.flow
  // Content from an agent that really ran was labeled where it entered.
  const flow = mergeFlow(isHandoff && result.status === 'skipped' ? toolFlow : declared, result.flow)
  const reading = flow.untrusted === true ? read(ctx, { ...result, flow }) : undefined
  const labeled = reading === undefined ? { ...result, flow } : await reading
  book.add(ctx, toLabels(labeled.flow ?? {}, { kind: 'tool', tool: name, callId: ctx.callId }))
  return reading !== undefined || isHandoff || result.flow !== undefined ? labeled : result
}

function mergeFlow(first: FlowLabels, added: FlowLabels = {}): FlowLabels {
  const untrusted = first.untrusted === true || added.untrusted === true
  const secret = first.private === true || added.private === true
  return { ...(untrusted && { untrusted }), ...(secret && { private: secret }) }
}
