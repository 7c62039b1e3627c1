import { AlliumError, type ModelContext, type ToolDef, type TurnContext } from '@allium/core'
import type { Chain } from './chain.ts'
import { checkPatch } from './check-patch.ts'
import type { HookContext } from './hook-context.ts'
import { conversationOf, instructionsOf, withInstructions } from './instructions.ts'
import { type Changes, configOf, type RunConfig, type Source, withPatch } from './run-config.ts'

/** What the model calls of a run start from, with what hooks have changed of it. */
export function sourceOfRun(turn: TurnContext, { settings, ...changes }: Changes): Source {
  const { plan } = turn
  const { model, tools } = plan
  return {
    fields: { model, tools: Object.freeze([...tools]), toolChoice: 'auto', maxSteps: turn.maxSteps, ...changes },
    settings: { ...plan.settings, ...settings },
    messages: lazily(() => Object.freeze([...turn.messages])),
    instructions: () => ('instructions' in changes ? changes.instructions : turn.agent.instructions),
  }
}

/** What one call would send. The tool that the model answers with is not shown: without it there is no answer. */
export function sourceOfCall(ctx: ModelContext, turn: TurnContext): Source {
  const { settings, tools, toolChoice } = ctx.request
  const { answerTool } = ctx.plan
  const { model, maxSteps } = ctx
  return {
    fields: { model, tools: Object.freeze(tools.filter(({ name }) => name !== answerTool)), toolChoice, maxSteps },
    settings,
    messages: lazily(() => Object.freeze([...conversationOf(ctx, turn)])),
    instructions: () => instructionsOf(ctx, turn),
  }
}

type ConfigHook = 'onConfig' | 'onBeforeModel' | 'onStructuredOutputConfig'

/** Asks hook after hook, each with what those before it made of the config. Gives the changes, if there are any. */
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

/** Changes one call. `known` are the tools that the hooks were shown: others stay. */
export function changeCall(
  ctx: ModelContext,
  turn: TurnContext,
  changes: Changes,
  knownTools: readonly ToolDef[],
): void {
  const { model, settings, tools, toolChoice, maxSteps, messages } = changes
  const { request } = ctx
  if (model !== undefined) ctx.setModel(model)
  if (settings !== undefined) ctx.settings = { ...request.settings, ...settings }
  if (toolChoice !== undefined) ctx.toolChoice = toolChoice
  if (tools !== undefined) ctx.toolDefs = chosen(tools, request.tools, knownTools)
  if (maxSteps !== undefined) ctx.maxSteps = maxSteps
  if (messages === undefined && !('instructions' in changes)) return
  const instructions = 'instructions' in changes ? changes.instructions : instructionsOf(ctx, turn)
  ctx.messages = withInstructions(instructions, messages ?? conversationOf(ctx, turn))
}

/** Of the tools that are offered now: those that the hooks chose, and those that they were not shown. */
function chosen(tools: readonly ToolDef[], offered: readonly ToolDef[], knownTools: readonly ToolDef[]): ToolDef[] {
  const includesTool = (list: readonly ToolDef[], { name }: ToolDef) => list.some((tool) => tool.name === name)
  return [
    ...tools.filter((tool) => includesTool(offered, tool)),
    ...offered.filter((tool) => !includesTool(knownTools, tool)),
  ]
}

/** A tool that nobody registered could be called, but would not run. */
function checkTools(hook: string, tools: readonly ToolDef[] | undefined, knownTools: readonly ToolDef[]): void {
  const strange = tools?.find((tool) => !knownTools.some(({ name }) => name === tool.name))
  if (strange === undefined) return
  throw new AlliumError(
    'layer.result',
    `The hooks of "${hook}" gave the tool "${strange.name}", which the agent does not have. A config hook chooses among tools; add this one with new Agent({ tools }).`,
    { details: { layer: hook, tool: strange.name } },
  )
}

function lazily<T>(compute: () => T): () => T {
  let cached: { value: T } | undefined
  return () => (cached ??= { value: compute() }).value
}
