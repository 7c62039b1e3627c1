import { sidesOf } from './processes.mjs'

/** Microseconds that the loop took for "model → tool → model" where the budgets were written. */
const reference = 1.7

/** How many times slower this machine is than the one of the budgets. */
export const machineFactor = (medians) => medians.get('tool').loop.value / reference

/**
 * The lines of a row, one for each of its limits.
 *
 * @param {import('./rows/index.mjs').Row} row
 * @param {Record<string, Record<string, number>>} medians by side
 * @param {number} factor of the machine
 */
export function linesOf(row, medians, factor) {
  const yardstick = sidesOf(row).find((side) => side !== 'allium')
  const theirs = medians[yardstick]
  const ours = medians.allium
  return row.limits.map(({ kind, most }) => {
    const found = compared[kind](ours, theirs)
    const scales = (kind === 'over' || kind === 'most') && row.unit === 'µs'
    const scaled = scales ? most * factor : most
    const { id, title, unit } = row
    return {
      ...{ id, title, unit, kind, yardstick, theirs, ours, found, most, met: found <= most },
      ...(scales && { scaled, metScaled: found <= scaled }),
    }
  })
}

/** What each kind of limit is about. */
const compared = {
  over: (ours, theirs) => ours.value - theirs.value,
  times: (ours, theirs) => ours.value / theirs.value,
  most: (ours) => ours.value,
  growth: (ours) => ours.last / ours.first,
}
