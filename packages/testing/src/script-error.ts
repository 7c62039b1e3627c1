import { AlliumError, type Message, type ModelRequest, textOf } from '@allium/core'
import type { ScriptedStep } from './step.ts'

/** Returns the error with the script and the unexpected request. */
export function unexpectedCall(id: string, steps: readonly ScriptedStep[], request: ModelRequest): AlliumError {
  const used = steps.length
  return new AlliumError(
    'test.script',
    `The scripted model "${id}" was called ${used + 1} times, but its script has ${count(used)}.\n\n${script(steps, used)}\n\n${requestLines(request)}\n\nAdd a step, or find out why the agent calls the model again.`,
    { details: { steps: steps.length } },
  )
}

/** Returns the error with the unused steps and the last request. */
export function unconsumed(
  id: string,
  steps: readonly ScriptedStep[],
  used: number,
  last: ModelRequest | undefined,
): AlliumError {
  const lastRequest = last === undefined ? 'No request came.' : requestLines(last)
  return new AlliumError(
    'test.script',
    `The scripted model "${id}" was called ${used} times, but its script has ${count(steps.length)}.\n\n${script(steps, used)}\n\n${lastRequest}\n\nRemove the steps that are left, or find out why the agent ended before them.`,
    { details: { steps: steps.length, used } },
  )
}

function script(steps: readonly ScriptedStep[], used: number): string {
  const lines = steps.map((step, i) => `  ${i < used ? '✓' : '·'} ${i + 1}. ${describeStep(step)}`)
  return ['Script (✓ used):', ...(lines.length === 0 ? ['  (empty)'] : lines)].join('\n')
}

function describeStep(step: ScriptedStep): string {
  if (typeof step === 'function') return `a function ${step.name}`.trim()
  if (typeof step === 'string') return JSON.stringify(short(step))
  if (step instanceof Error) return `throws ${step.name}: ${short(step.message)}`
  return short(JSON.stringify(step, (_, value) => (value instanceof Error ? `${value}` : value)))
}

function requestLines({ messages, tools }: ModelRequest): string {
  const lines = messages.slice(-4).map((message) => `  ${message.role}: ${short(contentOf(message))}`)
  if (messages.length > 4) lines.unshift(`  … ${messages.length - 4} before`)
  return [
    `Request, ${messages.length} messages:`,
    ...lines,
    `  tools: ${tools.map(({ name }) => name).join(', ') || 'none'}`,
  ].join('\n')
}

function contentOf(message: Message): string {
  if (typeof message.content === 'string') return message.content
  const others = message.content.filter((part) => part.type !== 'text')
  return [textOf(message), ...others.map((part) => JSON.stringify(part))].join(' ').trim()
}

function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 97)}…` : text
}

function count(steps: number): string {
  return steps === 1 ? '1 step' : `${steps} steps`
}
