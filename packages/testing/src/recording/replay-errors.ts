import type { AlliumError } from '@allium/core'
import { diffLines } from 'diff'
import type { CassetteRequest } from './cassette-data.ts'
import { recordingError } from './recording-error.ts'
import { requestLines, requestTitle } from './request-lines.ts'
import type { Take } from './takes.ts'

const fix =
  'Record it again if the change is intended. If it differs from run to run (a date, an id), add it to `scrub`, here and where it is recorded.'

/** Returns the error for a call that was not recorded, next to the nearest recorded one. */
export function noMatch(name: string, takes: readonly Take[], unmatched: { key: string; request: CassetteRequest }) {
  const same = takes.filter(({ key }) => key === unmatched.key).length
  const summary =
    same > 0
      ? `${name} has this request ${same === 1 ? 'once' : `${same} times`}, and the agent sent it once more.\n\n  ${requestTitle(unmatched.request)}`
      : `${name} has no such request. ${nearest(takes, unmatched.request)}`
  return recordingError(`${summary}\n\n${list(takes)}\n\n${fix}`, { request: unmatched.request })
}

/** Returns the error for recorded calls that were not used. */
export function unusedTakes(name: string, takes: readonly Take[]): AlliumError {
  const unusedCount = takes.filter(({ used }) => !used).length
  const what = `${unusedCount} of its ${takes.length} recorded calls`
  return recordingError(
    `${name} was not used up: ${what} did not come.\n\n${list(takes)}\n\nRecord it again, or find out why the agent ended before them.`,
    { unused: unusedCount },
  )
}

function list(takes: readonly Take[]): string {
  const lines = takes.map(({ entry, used }, i) => `  ${used ? '✓' : '·'} ${i + 1}. ${requestTitle(entry.request)}`)
  return ['Recorded (✓ used):', ...(lines.length === 0 ? ['  (nothing)'] : lines)].join('\n')
}

function nearest(takes: readonly Take[], unmatched: CassetteRequest): string {
  const lines = requestLines(unmatched)
  const free = takes.some(({ used }) => !used) ? takes.filter(({ used }) => !used) : takes
  const scored = free.map(({ entry }) => ({ entry, score: inCommon(requestLines(entry.request), lines) }))
  const [best] = scored.sort((a, b) => b.score - a.score)
  if (best === undefined) return `The request was:\n\n${lines.map((line) => `  ${line}`).join('\n')}`
  const at = takes.findIndex(({ entry }) => entry === best.entry) + 1
  return `The nearest is call ${at} (- recorded, + asked):\n\n${difference(requestLines(best.entry.request), lines)}`
}

function inCommon(recorded: readonly string[], unmatched: readonly string[]): number {
  const lines = new Set(recorded)
  return unmatched.filter((line) => lines.has(line)).length
}

/** Returns the lines that differ, with two lines of context. Very different texts are shown one after the other. */
function difference(recorded: readonly string[], unmatched: readonly string[]): string {
  const options = { maxEditLength: 1000, timeout: 1000 }
  const changes = diffLines(`${recorded.join('\n')}\n`, `${unmatched.join('\n')}\n`, options)
  if (changes === undefined) return [...prefixLines('-', recorded), ...prefixLines('+', unmatched)].join('\n')
  const lines = changes.flatMap(({ value, added, removed }) => {
    const part = value.replace(/\n$/, '').split('\n')
    if (added || removed) return prefixLines(added ? '+' : '-', part)
    return part.length > 5
      ? [...prefixLines(' ', part.slice(0, 2)), '  …', ...prefixLines(' ', part.slice(-2))]
      : prefixLines(' ', part)
  })
  return lines.join('\n')
}

function prefixLines(prefix: string, lines: readonly string[]): string[] {
  const shortened = lines.slice(0, 40).map((line) => `${prefix} ${line.length > 300 ? `${line.slice(0, 299)}…` : line}`)
  return lines.length > 40 ? [...shortened, `${prefix} … ${lines.length - 40} more lines`] : shortened
}
