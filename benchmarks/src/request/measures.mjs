import { median } from '../timed.mjs'

/** The side by hand. */
const yardstick = 'hand'

/** The samples of a side in the order of the rounds. */
export const samplesOf = ({ samples }, name, workload) =>
  samples.filter((sample) => sample.name === name && sample.workload === workload)

/** NaN for no numbers. */
export const medianOf = (numbers) => (numbers.length === 0 ? Number.NaN : median(numbers))

export function quantile(numbers, q) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(q * (numbers.length - 1))] ?? Number.NaN
}

/** The p99 of the requests of W1 in all rounds, as a multiple of their median. Five rounds have 1,000 requests. */
export function tailOf(found, name) {
  const totals = samplesOf(found, name, 'W1').flatMap(({ answers }) => answers.map(({ total }) => total))
  return quantile(totals, 0.99) / medianOf(totals)
}

/**
 * The ratio of one side to another one. Measures that each round has are compared round by round, and the ratio is their median.
 * NaN without a sample.
 *
 * @param {string} measure a workload for the CPU of its requests, or a name of `others`
 */
export function ratioOf(found, name, measure, base = yardstick) {
  const other = others[measure]
  if (other !== undefined) return other(found, name, base)
  return byRound(found, { name, base, workload: measure }, ({ cpu }) => cpu)
}

const others = {
  /** The median time to the first chunk of W1. */
  'first chunk': (found, name, base) =>
    byRound(found, { name, base, workload: 'W1' }, ({ answers }) => medianOf(answers.map(({ first }) => first))),
  /** CPU of a process until its first answer. */
  'cold start': ({ cold }, name, base) => cold[name] / cold[base],
  /** The resident set of the process after W1. */
  memory: (found, name, base) => byRound(found, { name, base, workload: 'W1' }, ({ rss }) => rss),
  /** Bytes of the database per turn. */
  disk: ({ disk }, name, base) => disk[name] / disk[base],
  /** How much longer the slowest requests take. */
  tail: (found, name, base) => tailOf(found, name) / tailOf(found, base),
}

function byRound(found, { name, base, workload }, value) {
  const theirs = samplesOf(found, base, workload)
  return medianOf(samplesOf(found, name, workload).map((sample, round) => value(sample) / value(theirs[round])))
}
