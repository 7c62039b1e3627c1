import { describe, equalJson, isRecord } from '@allium/core/internal'
import type { EvalCall } from '../report/report.ts'
import type { Scorer } from '../run/run.ts'
import { wanted } from './wanted.ts'

export interface CallsOptions {
  /** Whether calls of other tools are wrong, and so is another order. @default false */
  exact?: boolean | undefined
}

/**
 * Scores the share of the tools that the agent called. Denied calls count: it is the model that calls.
 *
 * @param tools the names of tools @default the case's `expected`, a list of names
 * @param options.exact whether other calls and another order score 0 @default false
 */
export function calls(tools?: readonly string[], { exact = false }: CallsOptions = {}): Scorer {
  return (run) => {
    const names = tools ?? wanted('calls()', [], run.expected)
    const called = run.calls.map(({ name }) => name)
    if (exact && !equalJson(called, names)) return { score: 0, reason: `It called ${listed(called)}.` }
    if (names.length === 0) return { score: 1 }
    const missing = names.filter((name) => !called.includes(name))
    return {
      score: 1 - missing.length / names.length,
      ...(missing.length > 0 && { reason: `It did not call ${missing.join(', ')}, but ${listed(called)}.` }),
    }
  }
}

/**
 * Scores 1 if the agent called the tool with these arguments at least once. Objects may have further fields.
 *
 * @param args fields and their values, or a function that returns whether the arguments are right
 */
export function calledWith(
  tool: string,
  args: Readonly<Record<string, unknown>> | ((args: Readonly<Record<string, unknown>>) => boolean),
): Scorer {
  const fits = (call: EvalCall) => {
    if (call.name !== tool || !isRecord(call.args)) return false
    return typeof args === 'function' ? args(call.args) : includes(call.args, args)
  }
  return (run) => {
    if (run.calls.some(fits)) return { score: 1 }
    const others = run.calls.filter(({ name }) => name === tool).map((call) => JSON.stringify(call.args))
    return {
      score: 0,
      reason: others.length === 0 ? `It did not call ${tool}.` : `It called ${tool} with ${others.join(', ')}.`,
    }
  }
}

/** Whether a value has all fields of another one. */
function includes(value: unknown, part: unknown): boolean {
  if (!isRecord(value) || !isRecord(part) || Array.isArray(part)) return equalJson(value, part)
  return Object.entries(part).every(([key, one]) => includes(value[key], one))
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'no tool' : names.map(describe).join(', ')
}
