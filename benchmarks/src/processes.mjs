import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

const here = (file) => fileURLToPath(new URL(file, import.meta.url))

/** The names of a row's sides: the yardstick, then `allium`; or `allium` alone. */
export const sidesOf = (row) => Object.keys(row.sides ?? row.scripts ?? { allium: row.command })

/**
 * Takes the samples of every row, over several rounds: each side in a process of its own, the sides of a row by turns.
 * Throws where two sides did not do the same work.
 *
 * @param {import('./rows/index.mjs').Row[]} rows
 * @param {(row: import('./rows/index.mjs').Row) => number} roundsOf
 * @param {(text: string) => void} tell of the progress
 * @returns {Promise<Map<string, Sample[]>>} by row
 *
 * @typedef {Record<string, Record<string, number>>} Sample side → name of the value → value
 */
export async function measure(rows, roundsOf, tell) {
  const taken = new Map(rows.map((row) => [row.id, []]))
  const most = Math.max(...rows.map(roundsOf))
  for (let round = 0; round < most; round++)
    for (const row of rows.filter((row) => round < roundsOf(row))) {
      tell(`round ${round + 1} of ${most}: ${row.id}`)
      taken.get(row.id).push(...(row.sides === undefined ? [programs(row)] : await workers(row)))
    }
  return taken
}

/** A round of a row whose sides are set up once, and then give samples by turns. */
async function workers(row) {
  const { id, flags = [], samples = 11 } = row
  const sides = []
  for (const side of sidesOf(row)) {
    const child = fork(here('worker.mjs'), [id, side], {
      execArgv: flags,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const left = once(child, 'exit').then(([code]) => {
      if (code !== 0) throw new Error(`The side "${side}" of "${id}" failed.`)
    })
    const told = async () => (await Promise.race([once(child, 'message'), left]))[0]
    await told()
    sides.push({ side, child, told, left })
  }
  const taken = []
  for (let i = 0; i < samples; i++) taken.push(await ask(sides, 'sample'))
  compare(row, await ask(sides, 'check'))
  for (const { child } of sides) child.disconnect()
  await Promise.all(sides.map(({ left }) => left))
  return taken
}

async function ask(sides, what) {
  const answers = {}
  for (const { side, child, told } of sides) {
    child.send(what)
    answers[side] = await told()
  }
  return answers
}

/** One sample of a row whose sides are programs. */
function programs(row) {
  const { id, scripts, command } = row
  const [sample, checks] = [{}, {}]
  for (const side of sidesOf(row)) {
    const args = command ?? [here(scripts[side])]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`The side "${side}" of "${id}" failed:\n${stderr}`)
    const { values, check } = JSON.parse(stdout)
    sample[side] = values
    checks[side] = check
  }
  compare(row, checks)
  return sample
}

function compare({ id }, checks) {
  const [[first, expected], ...others] = Object.entries(checks)
  for (const [side, check] of others)
    if (!isDeepStrictEqual(check, expected))
      throw new Error(
        `"${id}": the sides did not do the same work.\n${first}: ${JSON.stringify(expected)}\n${side}: ${JSON.stringify(check)}`,
      )
}
