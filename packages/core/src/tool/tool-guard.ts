import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { AnyTool } from './tool.ts'

/** A layer, or one of its hooks, that may have to see every call of some tools. */
export interface ToolGuard {
  readonly name: string
  /** Whether it guards this tool. */
  readonly guards?: ((tool: string) => boolean) | undefined
  /** Returns the reason why an agent may not have a tool, or undefined if it may. */
  admits?(tool: AnyTool): string | undefined
}

/** Whether the provider runs the tool itself. No layer sees such calls. */
export function isRunByProvider(tool: AnyTool | undefined): boolean {
  return tool?.providerExecuted !== undefined && tool.execute === undefined
}

/** The error for a guard of a tool that the provider runs. */
export function unseenCalls({ name }: ToolGuard, tool: string): string {
  return `"${name}" must see each call of "${tool}", but the provider runs it. Remove the tool, give it an execute function, or exclude it in the options of "${name}".`
}

/** The error for a tool that a guard does not admit. */
export function notAdmitted({ name }: ToolGuard, tool: string, why: string): string {
  return `"${name}" does not admit the tool ${describe(tool)}: ${why}`
}

/** @throws AlliumError `tool.invalid` if a guard would never see the calls of a tool that it guards, or does not admit the tool */
export function checkSeen(guards: readonly ToolGuard[], tools: Iterable<AnyTool>): void {
  const guarding = guards.filter((guard) => guard.guards !== undefined || guard.admits !== undefined)
  if (guarding.length === 0) return
  for (const tool of tools) {
    for (const guard of guarding) {
      const why = guard.admits?.(tool)
      if (why !== undefined)
        throw new AlliumError('tool.invalid', notAdmitted(guard, tool.name, why), {
          details: { layer: guard.name, tool: tool.name },
        })
    }
    if (!isRunByProvider(tool)) continue
    const blind = guarding.find((guard) => guard.guards?.(tool.name))
    if (blind !== undefined)
      throw new AlliumError('tool.invalid', unseenCalls(blind, tool.name), {
        details: { layer: blind.name, tool: tool.name },
      })
  }
}
