import { AlliumError, type ModelContext, type ToolDef, type TurnView } from '@allium/core'
import { setMaxSteps } from '@allium/core/context'
import type { Chain } from './chain.ts'
import { checkPatch } from './check-patch.ts'
import type { HookContext } from './hook-context.ts'
import { conversationOf, instructionsOf, withInstructions } from './instructions.ts'
import { type Changes, configOf, type RunConfig, type Source, withPatch } from './run-config.ts'

/** Returns the base config of a run's model calls, with the changes of hooks. */
export function sourceOfRun(turn: TurnView, { settings, ...changes }: Changes): Source {
  const { plan } = turn
  const { model, tools, maxSteps } = plan
  return {
    fields: { model, tools: Object.freeze([...tools]), toolChoice: 'auto', maxSteps, ...changes },
    settings: { ...plan.settings, ...settings },
    messages: lazily(() => Object.freeze([...turn.messages])),
    instructions: () => ('instructions' in changes ? changes.instructions : turn.agent.instructions),
  }
}

/** Returns the config of one call. The answer tool is hidden, because the run cannot end without it. */
export function sourceOfCall(ctx: ModelContext, turn: TurnView): Source {
  const { settings, tools, toolChoice } = ctx.request
  const { answerTool, maxSteps } = ctx.plan
  const { model } = ctx
  return {
    fields: { model, tools: Object.freeze(tools.filter(({ name }) => name !== answerTool)), toolChoice, maxSteps },
    settings,
    messages: lazily(() => Object.freeze([...conversationOf(ctx, turn)])),
    instructions: () => instructionsOf(ctx, turn),
  }
}

type ConfigHook = 'onConfig' | 'onBeforeModel' | 'onStructuredOutputConfig'

/** Calls one hook after the other, each with the config that the previous ones returned. Returns the changes, if there are any. */
export async function pipeConfig<Config extends RunConfig>(
  chain: Chain,
  hook: ConfigHook,
  ctx: HookContext,
  source: Source<Config>,
): Promise<Changes<Config> | undefined> {
  let changes: Changes<Config> = {}
  let now = configOf(source, changes)
  let changed = false
  for (const { name, call } of chain[hook]) {
    const returned = await call(ctx, now)
    if (returned === undefined || returned === null) continue
    const patch = checkPatch(`${hook} of "${name}"`, returned, now)
    checkTools(name, patch.tools, source.fields.tools)
    changes = withPatch(changes, now, patch)
    now = configOf(source, changes)
    changed = true
  }
  return changed ? changes : undefined
}

/** Changes one call. `knownTools` are the tools that the hooks saw; others stay. */
export function changeCall(ctx: ModelContext, turn: TurnView, changes: Changes, knownTools: readonly ToolDef[]): void {
  const { model, settings, tools, toolChoice, maxSteps, messages } = changes
  const { request } = ctx
  if (model !== undefined) ctx.setModel(model)
  if (settings !== undefined) ctx.settings = { ...request.settings, ...settings }
  if (toolChoice !== undefined) ctx.toolChoice = toolChoice
  if (tools !== undefined) ctx.toolDefs = chosen(tools, request.tools, knownTools)
  if (maxSteps !== undefined) setMaxSteps(ctx, maxSteps)
  if (messages === undefined && !('instructions' in changes)) return
  const instructions = 'instructions' in changes ? changes.instructions : instructionsOf(ctx, turn)
  ctx.messages = withInstructions(instructions, messages ?? conversationOf(ctx, turn))
}

/** Returns the offered tools that the hooks chose, and those that they did not see. */
function chosen(tools: readonly ToolDef[], offered: readonly ToolDef[], knownTools: readonly ToolDef[]): ToolDef[] {
  const includesTool = (list: readonly ToolDef[], { name }: ToolDef) => list.some((tool) => tool.name === name)
  return [
    ...tools.filter((tool) => includesTool(offered, tool)),
    ...offered.filter((tool) => !includesTool(knownTools, tool)),
  ]
}

/** Rejects an unregistered tool: the model could call it, but it would not run. */
function checkTools(hook: string, tools: readonly ToolDef[] | undefined, knownTools: readonly ToolDef[]): void {
  const strange = tools?.find((tool) => !knownTools.some(({ name }) => name === tool.name))
  if (strange === undefined) return
  throw new AlliumError(
    'layer.result',
    `The hooks of "${hook}" returned the tool "${strange.name}", which the agent does not have. A config hook can only select from the agent's tools. Add this one with new Agent({ tools }).`,
    { details: { layer: hook, tool: strange.name } },
  )
}

function lazily<T>(compute: () => T): () => T {
  let cached: { value: T } | undefined
  return () => (cached ??= { value: compute() }).value
}
