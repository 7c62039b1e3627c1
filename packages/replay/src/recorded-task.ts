import { messageOf, type RunOptions, type WrappedRun } from '@allium/core'
import { jsonSchemaOf } from '@allium/core/internal'
import type { RecordedTask } from './recorded-turn.ts'

/** Returns what was requested as data, and why a replay would need more than that. */
export function taskOf(given: WrappedRun['task']): { task: RecordedTask; reasons: readonly string[] } {
  if (given === undefined) return { task: { options: {} }, reasons: ['what was requested is unknown'] }
  const { input, decisions } = given
  const { model, settings, maxSteps, onRetryAfterOutput, clientTools, output, use } = given.options as RunOptions
  const reasons: string[] = []
  const options: RecordedTask['options'] = {
    ...(model !== undefined && { model: typeof model === 'string' ? model : ((model as { id?: string }).id ?? '') }),
    ...(settings !== undefined && { settings }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(onRetryAfterOutput !== undefined && { onRetryAfterOutput }),
    ...(clientTools !== undefined && { clientTools }),
    ...(output !== undefined && { output: outputOf(output, reasons) }),
    ...(use !== undefined && { use: namesOf(use) }),
  }
  return { task: decisions === undefined ? { input, options } : { decisions, options }, reasons }
}

function outputOf(output: unknown, reasons: string[]): unknown {
  const { jsonSchema } = output as { jsonSchema?: unknown }
  if (jsonSchema !== undefined) return jsonSchema
  const { schema = output } = output as { schema?: unknown }
  try {
    return jsonSchemaOf(schema as Parameters<typeof jsonSchemaOf>[0], 'The option output', 'run.options')
  } catch (error) {
    reasons.push(`the schema of output has no JSON Schema (${messageOf(error).slice(0, 80)})`)
    return undefined
  }
}

/** Returns the names of the layers of a run. A replay needs their code. */
function namesOf(use: readonly unknown[]): string[] {
  return use.flat(8).map((layer) => (layer as { name?: string }).name ?? 'layer')
}
