import type { CaseRow, GateView } from '../../src/eval-views.ts'

/** Returns a number with at most three decimals. */
export function plain(value: number): string {
  return String(Math.round(value * 1000) / 1000)
}

function points(value: number): string {
  return `${Math.round(value * 1000) / 10} points`
}

const kinds = {
  min: { name: 'mean >', write: plain },
  maxDrop: { name: 'drop <', write: points },
  maxRatio: { name: 'ratio <', write: plain },
} as const

/** Returns the condition of a gate and its estimate with the interval, as the reports in the terminal have them. */
export function gateWords({ kind, limit, estimate, interval }: GateView): { condition: string; result: string } {
  const { name, write } = kinds[kind]
  const range = interval === undefined ? '' : ` (${write(interval[0])} to ${write(interval[1])})`
  return {
    condition: `${name} ${write(limit)}`,
    result: estimate === undefined ? 'nothing compared' : `${write(estimate)}${range}`,
  }
}

export const filters = ['all', 'failing', 'changed', 'invalid'] as const
export type Filter = (typeof filters)[number]

/** Returns the cases that a filter keeps. */
export function filtered(cases: readonly CaseRow[], filter: Filter): readonly CaseRow[] {
  if (filter === 'failing') return cases.filter(({ isFailing }) => isFailing)
  if (filter === 'changed') return cases.filter(({ change }) => change !== undefined)
  if (filter === 'invalid') return cases.filter(({ invalid }) => invalid > 0)
  return cases
}

export const changeWords = { scores: 'other scores', new: 'new', edited: 'edited' } as const
