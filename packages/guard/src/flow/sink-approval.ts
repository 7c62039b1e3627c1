import type { ToolContext, ToolResult } from '@allium/core'
import { approvalRequestOf } from '@allium/core/context'
import { applyApproval } from '../rules/apply-approval.ts'
import { emitFlowEvent } from './flow-event.ts'
import { describeLabels, type Labels } from './labels.ts'
import { type ResolveAddresses, reachesOnlyPrincipal, type Sink, sinkOf, unknownFlow } from './sinks.ts'

export interface SinkPolicy {
  readonly layer: string
  readonly onSink: 'ask' | 'deny'
  readonly own: ResolveAddresses | undefined
  readonly expiresIn: number | undefined
}

/** Returns the result of a call that does not run; undefined for a harmless call, and for one that a person has approved. */
export async function denyUnlessApproved(
  ctx: ToolContext,
  labels: Labels,
  policy: SinkPolicy,
): Promise<ToolResult | undefined> {
  const sink = await sinkOfCall(ctx, labels, policy.own)
  if (sink === undefined) return undefined
  if (ctx.invalid !== undefined)
    return ctx.skipCall({ content: ctx.invalid.map(({ message }) => message).join('\n'), isError: true, flow: {} })
  const approval = approvalRequestOf(ctx)?.by === policy.layer ? ctx.approval : undefined
  return approval === undefined ? askOrDeny(ctx, sink, labels, policy) : applyApproval(ctx, approval)
}

/** Returns the sink that needs approval. Sending only to the principal needs none. */
async function sinkOfCall(
  ctx: ToolContext,
  labels: Labels,
  own: ResolveAddresses | undefined,
): Promise<Sink | undefined> {
  const sink = sinkOf(ctx.tool.flow ?? unknownFlow, labels)
  if (sink?.sends !== true || !(await reachesOnlyPrincipal(ctx, own))) return sink
  return sink.writes ? { sends: false, writes: true } : undefined
}

function askOrDeny(
  ctx: ToolContext,
  sink: Sink,
  labels: Labels,
  { layer, onSink, expiresIn }: SinkPolicy,
): Promise<ToolResult> | ToolResult {
  const { name } = ctx.tool
  emitFlowEvent(ctx, { layer, action: onSink, tool: name, callId: ctx.callId, ...labels })
  const effects = sink.sends ? (sink.writes ? 'send and write' : 'send') : 'write'
  const reason = `The tool "${name}" would ${effects} while the conversation holds ${describeLabels(labels)}, which may have asked for this.`
  if (onSink === 'deny') return ctx.deny(reason)
  return ctx.suspend({ reason, sources: { ...labels }, ...(expiresIn !== undefined && { expiresIn }) })
}
