import type { RunStatus } from '@allium/core'
import { historyProblems } from './history-problems.ts'
import { leaks } from './leaks.ts'
import { list, type Outcome, outcome, show } from './outcome.ts'
import { fieldsOf, type HistorySource } from './received.ts'
import { runEnd } from './run-end.ts'
import { unwindingProblem } from './unwinding.ts'

/** Passes if the run ended with this status, and this reason if one is given. */
export function toHaveEnded(received: unknown, status: RunStatus, reason?: string | RegExp): Outcome {
  const end = runEnd(received)
  const expectedEnd = `${status}${reason === undefined ? '' : `, ${show(reason)}`}`
  const found = `${end.status}${end.reason === undefined ? '' : `, ${show(end.reason)}`}`
  const { error } = fieldsOf(received)
  const thrown = error instanceof Error ? `\n\nIt threw ${error.name}: ${error.message}` : ''
  const reasonFits =
    reason === undefined ||
    (typeof reason === 'string' ? end.reason === reason : (end.reason ?? '').search(reason) >= 0)
  return outcome(end.status === status && reasonFits, {
    fails: `Expected the run to end as ${expectedEnd}, but it ended as ${found}.${thrown}`,
    negated: `Expected the run not to end as ${expectedEnd}, but it did${reason === undefined ? `: ${found}` : ''}.`,
  })
}

/** Passes if a log of `traceLayer` lines is that of an onion with these layers, outermost first. */
export function toUnwind(received: readonly string[], names: readonly string[]): Outcome {
  const problem = unwindingProblem(received, names)
  const order = names.join(' > ')
  return outcome(problem === undefined, {
    fails: `Expected the log to unwind as ${order}, but ${problem}.\n\n${list('Log', received)}\n\nIn each scope a layer is entered inside the one before it and left before it. A line that is missing: was next() awaited, or returned?`,
    negated: `Expected the log not to unwind as ${order}, but it does.\n\n${list('Log', received)}`,
  })
}

/** Passes if every tool call in a history has exactly one result, after it. */
export function toBeValidHistory(received: HistorySource): Outcome {
  const problems = historyProblems(received)
  return outcome(problems.length === 0, {
    fails: `Expected a history that a provider takes.\n\n${list('Problems', problems)}\n\nEvery tool call needs exactly one result after it. One that waits for a human has its own after resume().`,
    negated: 'Expected a history that a provider refuses, but every tool call has exactly one result after it.',
  })
}

/** Passes if the secret occurs anywhere in the value; meant for `.not`. */
export function toHaveLeaked(received: unknown, secret: string | RegExp): Outcome {
  const places = leaks(received, secret)
  return outcome(places.length > 0, {
    fails: 'Expected the secret somewhere in the value, but it is nowhere. Was it planted?',
    negated: `Expected the secret nowhere, but it can be read.\n\n${list('Places', places)}`,
  })
}
