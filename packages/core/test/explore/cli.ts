import { parseArgs } from 'node:util'
import { type Difference, differences } from './compare.ts'
import { exhaustive, exhaustiveCases } from './exhaustive.ts'
import { everything, generate, type Menu } from './generate.ts'
import { asTest } from './print.ts'
import { shrink } from './shrink.ts'

/*
 * `npm run explore -- --cases 1000000 --seed 1`: tries so many cases, says what differs, by kind, and prints the smallest
 * failing case of the most frequent kinds (`--show 3`) as a test to copy. `--menu late,streams` leaves out the rest.
 * `--stop` ends with the first that differs.
 * `--exhaustive`: all 3.1 million small stacks, which takes an hour or more; with `--cases n`, so many of them.
 */
const { values } = parseArgs({
  options: {
    cases: { type: 'string' },
    seed: { type: 'string', default: '1' },
    menu: { type: 'string' },
    show: { type: 'string', default: '1' },
    kind: { type: 'string' },
    exhaustive: { type: 'boolean' },
    stop: { type: 'boolean' },
  },
})
const menu = values.menu === undefined ? everything : menuOf(values.menu.split(','))
const all = values.exhaustive === true
const first = all ? 0 : Math.round(Number(values.seed) * 1_000_000)
// Of all, every n-th where a number is given; the step has no divisor in common with what a case is made of.
const step = all && values.cases !== undefined ? Math.floor(exhaustiveCases / Number(values.cases)) | 1 : 1
const end = all ? exhaustiveCases : first + Number(values.cases ?? 20_000)
const cases = Math.ceil((end - first) / step)
const planOf = (seed: number) => (all ? exhaustive(seed) : generate(seed, menu))

const kindOf = (found: readonly Difference[]) => found.map(({ aspect }) => aspect).join(' ')

const kinds = new Map<string, number[]>()
const began = performance.now()
for (let seed = first; seed < end; seed += step) {
  const found = await differences(planOf(seed), seed)
  if (found.length === 0) continue
  kinds.set(kindOf(found), [...(kinds.get(kindOf(found)) ?? []), seed])
  if (values.stop === true) break
}
report()
for (const [, seeds] of frequent().slice(0, Number(values.show))) await showSmallest(seeds[0] ?? 0)

function report(): void {
  for (const [kind, seeds] of frequent()) console.log(`${seeds.length} × ${kind} (${seeds.slice(0, 4).join(', ')})`)
  const failed = frequent().reduce((sum, [, seeds]) => sum + seeds.length, 0)
  const each = ((performance.now() - began) / cases).toFixed(2)
  console.log(`${failed} of ${cases} cases differ; ${each} ms a case`)
  process.exitCode = failed === 0 ? 0 : 1
}

function frequent(): [string, number[]][] {
  const sorted = [...kinds].sort((a, b) => b[1].length - a[1].length)
  return values.kind === undefined ? sorted : sorted.filter(([kind]) => kind === values.kind)
}

async function showSmallest(seed: number): Promise<void> {
  const kind = kindOf(await differences(planOf(seed), seed))
  const plan = await shrink(planOf(seed), async (plan) => kindOf(await differences(plan, seed)) === kind)
  console.log(`\n${asTest(plan, await differences(plan, seed), { title: `holds for seed ${seed}` })}`)
}

function menuOf(names: readonly string[]): Menu {
  const has = (name: keyof Menu) => names.includes(name)
  return { late: has('late'), streams: has('streams'), tools: has('tools'), turns: has('turns') }
}
