import { sidesOf } from './processes.mjs'
import { median } from './timed.mjs'

/**
 * The line of a row: what was found is the median over the samples, each side beside the other as they were taken.
 *
 * @param {import('./rows/index.mjs').Row} row
 * @param {import('./processes.mjs').Sample[]} samples
 */
export function lineOf({ id, title, unit, kind, most, reason, ...row }, samples) {
  const yardstick = sidesOf(row).find((side) => side !== 'allium')
  const found = median(samples.map((sample) => compared[kind](sample.allium, sample[yardstick])))
  return {
    ...{ id, title, unit, kind, yardstick, found, most, reason },
    theirs: yardstick === undefined ? undefined : mediansOf(samples, yardstick),
    ours: mediansOf(samples, 'allium'),
    ...(most !== undefined && { met: found <= most }),
  }
}

/** What each kind of budget is about. */
const compared = {
  times: (ours, theirs) => ours.value / theirs.value,
  growth: (ours) => ours.last / ours.first,
  most: (ours) => ours.value,
}

function mediansOf(samples, side) {
  const keys = Object.keys(samples[0][side])
  return Object.fromEntries(keys.map((key) => [key, median(samples.map((sample) => sample[side][key]))]))
}
