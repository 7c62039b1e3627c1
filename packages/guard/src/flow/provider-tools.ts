import type { AnyTool, ModelContext, ToolDef } from '@allium/core'
import type { TurnPlan } from '@allium/core/internal'
import { emitFlowEvent } from './flow-event.ts'
import { type Labels, mergeLabels, toLabels } from './labels.ts'
import { sinkOf, unknownFlow } from './sinks.ts'

/** Returns why an agent may not have this tool: the layer could not guarantee anything about it. */
export function rejectReason({ name, flow, execute, providerExecuted }: AnyTool): string | undefined {
  if (flow === undefined)
    return `it declares no flow. Add flow: { untrusted?, private?, sends?, writes? } to "${name}", or flow: {} if none of these apply.`
  if (execute !== undefined || providerExecuted === undefined) return undefined
  return sinkOf(flow, toLabels(flow, { kind: 'tool', tool: name })) === undefined
    ? undefined
    : 'the provider runs it without asking, so one call could leak what another brought in. Remove it, or give it an execute function.'
}

/**
 * Hides the tools of a model call that the provider would run as sinks. Such a tool may bring in its content, and may send out
 * the text that was there before.
 *
 * @returns the labels that the text may have during the call
 */
export function hideProviderSinks(layer: string, ctx: ModelContext, before: Labels): Labels {
  const { plan } = ctx
  const names = ctx.request.tools.filter((def) => isProviderTool(def, plan)).map(({ name }) => name)
  const flowOf = (name: string) => plan.flowOf(name) ?? unknownFlow
  const labels = names.reduce(
    (merged, name) => mergeLabels(merged, toLabels(flowOf(name), { kind: 'tool', tool: name })),
    before,
  )
  for (const name of names) {
    if (sinkOf(flowOf(name), labels) === undefined) continue
    ctx.removeTools(name)
    const { toolChoice } = ctx
    if (typeof toolChoice === 'object' && toolChoice.name === name) ctx.toolChoice = 'auto'
    emitFlowEvent(ctx, { layer, action: 'hide', tool: name, ...labels })
  }
  return labels
}

/** Whether the provider runs a tool, including unknown tools that a layer added or renamed. */
function isProviderTool({ name, providerExecuted }: ToolDef, plan: TurnPlan): boolean {
  return providerExecuted !== undefined && (plan.runsAtProvider(name) || !plan.tools.some((def) => def.name === name))
}
