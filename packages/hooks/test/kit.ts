import { Agent, type AgentOptions, type AgentRun, type AnyTool, type RunResult, type Usable } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import type { HookContext, Lifecycle } from '../src/index.ts'

/** Steps of a turn that calls the tool "work" once. */
export const oneCall: ScriptedStep[] = [{ toolCalls: [{ name: 'work', callId: 'c1', args: { n: 1 } }] }, 'done']

export function tool(name: string, execute: AnyTool['execute'] = () => 'worked'): AnyTool {
  return { name, description: `The tool ${name}`, jsonSchema: { type: 'object' }, execute } as AnyTool
}

/** An agent around a scripted model; what it logs is kept. */
export function build(
  steps: readonly ScriptedStep[],
  layers: readonly Usable[] = [],
  options: Partial<AgentOptions> = {},
) {
  const model = scriptedModel(steps)
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const agent = new Agent({ model, tools: [tool('work')], logger: { warn: note, error: note }, ...options })
  agent.use(layers)
  return { agent, model, log }
}

/** What became of a run, without a throw. */
export async function settled(
  run: AgentRun<object, unknown>,
): Promise<{ result?: RunResult<object, unknown>; error?: unknown }> {
  try {
    return { result: await run }
  } catch (error) {
    return { error }
  }
}

/** The contents of the tool results of a conversation, in order. */
export function toolResults(messages: RunResult['messages']): unknown[] {
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'tool-result' ? [part.content] : [])),
  )
}

/** Lets everything that needs no timer come to rest. */
export const rest = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

const hookNames = [
  'setup',
  'onConfig',
  'onBeforeModel',
  'onStart',
  'onIteration',
  'onChunk',
  'onBeforeToolCall',
  'onAfterToolCall',
  'onToolPhaseComplete',
  'onUsage',
  'onShouldContinue',
  'onFinish',
  'onAbort',
  'onError',
] as const

/** Notes each hook as it fires, behind a mark; `onConfig` with its phase, `onIteration` with its number. */
export function recorder(log: string[], mark = ''): Lifecycle {
  const note = (hook: string) => (ctx: HookContext) => {
    const more = { onConfig: ` ${ctx.phase}`, onIteration: ` ${ctx.iteration}` }[hook] ?? ''
    log.push(`${mark}${hook}${more}`)
  }
  return Object.fromEntries(hookNames.map((hook) => [hook, note(hook)]))
}
