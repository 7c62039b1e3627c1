import type { AnyTool, ScopeName } from '@allium/core'
import type { ScriptedStep } from './step.ts'

/** The replacements for everything inside the hook. */
export interface Stubs {
  /** The only hook that runs; the layer's other hooks are left out. */
  scope: ScopeName
  /** Turn and model scope: the model's replies, one step per call. @default always 'ok' */
  steps?: ScriptedStep | readonly ScriptedStep[]
  /** Tool scope: the arguments that the model sends; a text is sent unchanged. @default {} */
  args?: Record<string, unknown> | string
  /** Tool scope: the tool's implementation. @default returns 'ok' */
  execute?(args: Record<string, unknown>): unknown
  /** Tool scope: fields of the tool, such as its name or `requireApproval`. @default a tool "work" that accepts anything */
  tool?: Partial<AnyTool>
}

/** Returns the script of the model. */
export function stepsOf({ scope, steps, tool, args }: Stubs): readonly ScriptedStep[] {
  if (scope === 'tool') return [{ toolCalls: [{ name: tool?.name ?? 'work', args }] }, 'ok']
  if (steps === undefined) return Array.from({ length: 100 }, () => 'ok')
  return Array.isArray(steps) ? steps : [steps as ScriptedStep]
}

/** Returns the tool inside a tool hook; its arguments are added to `executed`. */
export function toolsOf({ scope, tool, execute = () => 'ok' }: Stubs, executed: object[]): AnyTool[] {
  if (scope !== 'tool') return []
  const run = (args: Record<string, unknown>) => {
    executed.push(args)
    return execute(args)
  }
  const work = { name: 'work', description: 'The tool under test', jsonSchema: { type: 'object' }, execute: run }
  return [{ ...work, ...tool } as AnyTool]
}
