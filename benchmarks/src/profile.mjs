import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sidesOf } from './processes.mjs'
import { rows } from './rows/index.mjs'
import { columns, short } from './table.mjs'

// `node profile.mjs <row> [side]`: what one piece of the row's work comes to on each side, then where its time goes, by
// function. With --heap: which functions take memory, and where promises come up.
const { values: options, positionals } = parseArgs({ options: { heap: { type: 'boolean' } }, allowPositionals: true })
const [id, side = 'allium'] = positionals
const profiled = rows.filter(({ profiled }) => profiled !== undefined)
const row = profiled.find((row) => row.id === id)
if (row === undefined || !sidesOf(row).includes(side))
  throw new Error(
    `Give one of the rows ${profiled.map(({ id }) => id).join(', ')}, and one of its sides if not allium.`,
  )

const room = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256']
const folder = mkdtempSync(join(tmpdir(), 'profile-'))
console.log(`${row.title}: ${row.profiled}\n\n${sums()}\n`)
if (options.heap) {
  tell('heap', 'bytes', 'heapprofile', ({ value }) => Math.round(value).toLocaleString('en'))
  tellPromises()
} else tell('cpu', 'of the time', 'cpuprofile', ({ share }) => `${(share * 100).toFixed(1)} %`)

/** Each side's sums, side by side. */
function sums() {
  const sides = sidesOf(row)
  const found = sides.map((side) => {
    const { µs, minor, major } = ask(side, 'time')
    const { made, derived, awaits } = ask(side, 'promises').kinds
    const { bytes } = ask(side, 'bytes', room)
    return {
      'µs of CPU': µs,
      bytes,
      'promises made': made,
      'derived by then': derived,
      awaits,
      'collections in 1,000': 1000 * (minor + major),
    }
  })
  const names = Object.keys(found[0])
  const ratio = (name) => (found[0][name] === 0 ? '–' : `${short(found[1][name] / found[0][name])} ×`)
  return columns([
    ['', ...sides, ''],
    ...names.map((name) => [name, ...found.map((one) => short(one[name])), ratio(name)]),
  ])
}

function tell(what, unit, ending, written) {
  const { sites, lines = [], profile } = ask(side, what)
  for (const [by, found] of Object.entries({ function: sites, line: lines })) {
    const most = found.slice(0, 30).map((site) => [written(site), site.site])
    if (most.length > 0) console.log(`${columns([[unit, `${side}: by ${by}`], ...most])}\n`)
  }
  const file = join(folder, `${id}-${side}.${ending}`)
  writeFileSync(file, JSON.stringify(profile))
  console.log(`Chrome's DevTools opens ${file}\n`)
}

function tellPromises() {
  const { sites } = ask(side, 'promises')
  const all = ({ made, derived, awaits }) => made + derived + awaits
  const lines = sites
    .filter((site) => all(site) >= 0.005)
    .sort((a, b) => all(b) - all(a))
    .slice(0, 40)
    .map(({ site, made, derived, awaits }) => [short(made), short(derived), short(awaits), site])
  console.log(columns([['made', 'derived', 'awaits', `${side}: by place`], ...lines]))
}

function ask(side, what, flags = []) {
  const worker = fileURLToPath(new URL('profile-worker.mjs', import.meta.url))
  const settings = { encoding: 'utf8', maxBuffer: 2 ** 30 }
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, worker, id, side, what], settings)
  if (status !== 0) throw new Error(`The side "${side}" of "${id}" failed:\n${stderr}`)
  return JSON.parse(stdout)
}
