import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { median } from './timed.mjs'

const here = (file) => fileURLToPath(new URL(file, import.meta.url))

/** The names of a row's sides: the yardstick, then `allium`; or `allium` alone. */
export const sidesOf = (row) => Object.keys(row.sides ?? row.scripts ?? { allium: row.command })

/**
 * Runs every side of every row in processes of its own, one at a time, the sides of a row one after the other in each
 * round; gives the medians over the rounds. Throws where two sides did not do the same work.
 *
 * @param {import('./rows/index.mjs').Row[]} rows
 * @param {(row: import('./rows/index.mjs').Row) => number} roundsOf
 * @param {(text: string) => void} tell of the progress
 * @returns {Map<string, Record<string, Record<string, number>>>} row id → side → name of the value → median
 */
export function measure(rows, roundsOf, tell) {
  const taken = new Map(rows.map((row) => [row.id, []]))
  const checks = new Map()
  const most = Math.max(...rows.map(roundsOf))
  for (let round = 0; round < most; round++)
    for (const row of rows.filter((row) => round < roundsOf(row)))
      for (const side of sidesOf(row)) {
        tell(`round ${round + 1} of ${most}: ${row.id}, ${side}`)
        const { values, check } = run(row, side)
        compare(checks, row, side, check)
        taken.get(row.id).push({ side, values })
      }
  return new Map(rows.map((row) => [row.id, mediansOf(taken.get(row.id))]))
}

function run(row, side) {
  const { id, flags = [], scripts, command } = row
  const [file, ...args] = command ?? [here(scripts === undefined ? 'worker.mjs' : scripts[side]), id, side]
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, file, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The side "${side}" of "${id}" failed:\n${stderr}`)
  return JSON.parse(stdout)
}

function compare(checks, { id }, side, check) {
  const first = checks.get(id)
  if (first === undefined) checks.set(id, { side, check })
  else if (!isDeepStrictEqual(first.check, check))
    throw new Error(
      `"${id}": the sides did not do the same work.\n${first.side}: ${JSON.stringify(first.check)}\n${side}: ${JSON.stringify(check)}`,
    )
}

function mediansOf(taken) {
  const medians = {}
  for (const { side, values } of taken)
    for (const key of Object.keys(values)) {
      medians[side] ??= {}
      medians[side][key] ??= median(taken.filter((one) => one.side === side).map((one) => one.values[key]))
    }
  return medians
}
