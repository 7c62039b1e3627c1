import { watchDigests } from './clock.ts'
import { layerKinds } from './layers.ts'
import { planOf } from './plan.ts'
import { difference } from './play.ts'

const [from = 1, to = 1000, show = 0] = process.argv.slice(2).map(Number)
watchDigests()
for (let seed = 1; seed <= 3; seed++) await difference({ ...planOf(seed), layers: layerKinds, inner: [] })
let held = 0
const kinds = new Map<string, number>()
const bad: number[] = []
for (let seed = from; seed <= to; seed++) {
  const begun = performance.now()
  const plan = planOf(seed)
  const differs = await difference(plan)
  const took = performance.now() - begun
  if (took > 1000) console.log(seed, 'took', Math.round(took), JSON.stringify(plan))
  if (differs === undefined) {
    held++
    continue
  }
  bad.push(seed)
  for (const kind of new Set([...plan.layers, ...plan.inner])) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  if (bad.length <= show) console.log(seed, JSON.stringify(plan), JSON.stringify(differs).slice(0, 3000))
}
console.log(held, 'of', to - from + 1, JSON.stringify([...kinds].sort((a, b) => b[1] - a[1])), bad.slice(0, 30))
process.exitCode = bad.length === 0 ? 0 : 1
