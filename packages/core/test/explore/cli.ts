import { parseArgs } from 'node:util'
import { differences } from './compare.ts'
import { everything, generate } from './generate.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    menu: { type: 'string', default: '' },
    show: { type: 'string', default: '1' },
  },
})
const from = Number(values.seed) * 1_000_000
const menu =
  values.menu === ''
    ? everything
    : { late: false, streams: false, tools: false, turns: false, ...JSON.parse(values.menu) }
const began = performance.now()
const classes = new Map<string, number[]>()
for (let i = 0; i < Number(values.cases); i++) {
  const found = await differences(generate(from + i, menu), i)
  if (found.length === 0) continue
  const key = found.map(({ aspect }) => aspect).join()
  classes.set(key, [...(classes.get(key) ?? []), from + i])
}
const all = [...classes].sort((a, b) => b[1].length - a[1].length)
for (const [key, seeds] of all) console.log(seeds.length, key, seeds.slice(0, 5).join(' '))
console.log(
  'failed',
  all.reduce((n, [, s]) => n + s.length, 0),
  'of',
  values.cases,
  ((performance.now() - began) / Number(values.cases)).toFixed(2),
  'ms a case',
)
for (const [, seeds] of all.slice(0, Number(values.show))) {
  const plan = generate(seeds[0] as number, menu)
  console.log(JSON.stringify(plan, null, 1))
  console.log(JSON.stringify(await differences(plan, 1), null, 1))
}
