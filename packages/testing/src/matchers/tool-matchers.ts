import { type CalledTool, type CallSource, calledTools, callLine } from './called-tools.ts'
import { matchesPartially } from './matches-partially.ts'
import { list, type Outcome, outcome, show } from './outcome.ts'

/** Passes if the model called the tool with at least these arguments. */
export function toHaveCalledTool(received: CallSource, name: string, args?: unknown): Outcome {
  const calls = calledTools(received)
  const named = calls.filter((call) => call.name === name)
  const fits = (call: CalledTool) => args === undefined || matchesPartially(call.args, args)
  const what = `${name}${args === undefined ? '' : ` with ${show(args)}`}`
  const callList = list('Calls', calls.map(callLine))
  const hint = named.length === 0 ? nameHint(name, calls) : argsHint(named, args)
  return outcome(named.some(fits), {
    fails: `Expected a call of the tool ${what}.\n\n${callList}\n\n${hint}`,
    negated: `Expected no call of the tool ${what}, but the agent called it.\n\n${callList}\n\nA denied call counts too; the list shows the status of each.`,
  })
}

/** Passes if the model called exactly these tools, in this order. */
export function toHaveCalledTools(received: CallSource, names: readonly string[]): Outcome {
  const calls = calledTools(received)
  const found = calls.map(({ name }) => name)
  const expectedCalls = names.join(', ') || 'no tool'
  return outcome(found.join('\n') === names.join('\n'), {
    fails: `Expected calls of ${expectedCalls}, in this order.\n\n${list('Calls', calls.map(callLine))}\n\n${orderHint(found, names)}`,
    negated: `Expected other calls than ${expectedCalls}, in this order.`,
    actual: found,
    expected: names,
  })
}

function nameHint(name: string, calls: readonly CalledTool[]): string {
  if (calls.length === 0) return 'The model called no tool. Check its script and its requests.'
  const normalize = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const similar = calls.find((call) => normalize(call.name) === normalize(name))
  return similar === undefined ? `No call has the name ${name}.` : `Is it "${similar.name}" that you mean?`
}

function argsHint(named: readonly CalledTool[], args: unknown): string {
  const wrong = new Set(named.flatMap((call) => differingFields(call.args, args)))
  const fields = [...wrong].join(', ')
  return `The tool was called, but with other arguments${fields === '' ? '' : `: look at ${fields}`}. Fields that you do not name may be anything.`
}

function differingFields(actual: object, expected: unknown): string[] {
  if (typeof expected !== 'object' || expected === null || 'asymmetricMatch' in expected) return []
  const fields = actual as Record<string, unknown>
  return Object.entries(expected).flatMap(([key, value]) => (matchesPartially(fields[key], value) ? [] : [key]))
}

function orderHint(found: readonly string[], names: readonly string[]): string {
  if ([...found].sort().join('\n') === [...names].sort().join('\n')) return 'They are the same, in another order.'
  const missing = names.filter((name) => !found.includes(name))
  const extra = found.filter((name) => !names.includes(name))
  const parts = [
    missing.length > 0 && `Missing: ${missing.join(', ')}.`,
    extra.length > 0 && `Not expected: ${extra.join(', ')}.`,
  ]
  return parts.filter(Boolean).join(' ') || 'One of them was called more or less often.'
}
