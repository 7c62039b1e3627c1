import type { AnyTool, ScopeName } from '@allium/core'
import type { ScriptedStep } from './step.ts'

/** What stands inside the hook. */
export interface Stubs {
  /** The one hook that runs; the layer's other hooks stay out. */
  scope: ScopeName
  /** Turn and model scope: what the model does, one step for each call. @default always 'ok' */
  steps?: ScriptedStep | readonly ScriptedStep[]
  /** Tool scope: the arguments as the model sends them; a text is sent as it is. @default {} */
  args?: Record<string, unknown> | string
  /** Tool scope: what the tool does. @default gives 'ok' */
  execute?(args: Record<string, unknown>): unknown
  /** Tool scope: fields of the tool, such as its name or `requireApproval`. @default a tool "work" that takes anything */
  tool?: Partial<AnyTool>
}

/** The script of the model around the hook. */
export function stepsOf({ scope, steps, tool, args }: Stubs): readonly ScriptedStep[] {
  if (scope === 'tool') return [{ toolCalls: [{ name: tool?.name ?? 'work', args }] }, 'ok']
  if (steps === undefined) return Array.from({ length: 100 }, () => 'ok')
  return Array.isArray(steps) ? steps : [steps as ScriptedStep]
}

/** The tool that a tool hook stands around; what reaches it goes to `executed`. */
export function toolsOf({ scope, tool, execute = () => 'ok' }: Stubs, executed: object[]): AnyTool[] {
  if (scope !== 'tool') return []
  const run = (args: Record<string, unknown>) => {
    executed.push(args)
    return execute(args)
  }
  const work = { name: 'work', description: 'The tool under test', jsonSchema: { type: 'object' }, execute: run }
  return [{ ...work, ...tool } as AnyTool]
}
