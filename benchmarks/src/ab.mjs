import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import compose from 'koa-compose'
import { conversation, loop } from './sides/loop.mjs'
import { counter, instructions, mock, weather } from './sides/mock.mjs'
import { columns, short } from './table.mjs'
import { median, timed } from './timed.mjs'

// `node ab.mjs <dist before> <dist now> [row…]`: the yardstick and two builds of core take turns in one process.
const [before, now, ...chosen] = process.argv.slice(2)
const depth = 100
const processes = Number(process.env.AB_PROCESSES ?? 5)
const rounds = 50
const msPerSample = 10
const events = ['turn:start', 'turn:end', 'model:start', 'model:end', 'tool:start', 'tool:end']
/** `of(Agent)` returns the work of a build, `of()` that of the yardstick. */
const rows = {
  bare: { of: turns(0) },
  turn: { of: turns(0, true) },
  tool: { of: turns(1, true) },
  steps: { of: turns(20, true) },
  'turn-layer': { of: layers('turn'), per: depth },
  'model-layer': { of: layers('model'), per: depth },
  'tool-layer': { of: layers('tool'), per: depth },
}

if (process.env.AB_ROW === undefined) compareEach(chosen.length > 0 ? chosen : Object.keys(rows))
else console.log(JSON.stringify(await compare(rows[process.env.AB_ROW])))

/** The medians of several processes, because the addresses in one can favor a build. Every other process swaps the builds. */
function compareEach(names) {
  const lines = names.map((row) => {
    const times = Array.from({ length: processes }, (_, i) => {
      const [yardstick, first, second] = timesOf(row, i % 2 === 0 ? [before, now] : [now, before])
      return i % 2 === 0 ? [yardstick, first, second] : [yardstick, second, first]
    })
    const [yardstick, a, b] = [0, 1, 2].map((side) => median(times.map((time) => time[side])))
    const ratios = [a, b].map((time) => `${short(time / yardstick)} ×`)
    return [row, short(yardstick), short(a), short(b), ...ratios, `${((b / a - 1) * 100).toFixed(1)} %`]
  })
  console.log(columns([['µs of CPU', 'yardstick', 'before', 'now', 'before', 'now', 'change'], ...lines]))
}

function timesOf(row, builds) {
  const args = ['--single-threaded', fileURLToPath(import.meta.url), ...builds]
  const env = { ...process.env, AB_ROW: row }
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** Returns lower quartiles, because other programs only make samples slower. */
async function compare({ of, per = 1 }) {
  const works = [await of()]
  for (const folder of [before, now])
    works.push(await of((await import(pathToFileURL(resolve(folder, 'index.js')))).Agent))
  const sides = []
  for (const work of works) sides.push({ work, count: await warmed(work), samples: [] })
  for (let round = 0; round < rounds; round++, sides.reverse())
    for (const { work, count, samples } of sides) samples.push((await timed(count, work)) / per)
  return works.map((work) => {
    const { samples } = sides.find((side) => side.work === work)
    return samples.sort((a, b) => a - b)[rounds >> 2]
  })
}

/** Runs the work for a second of CPU, so that V8 has compiled it. Returns how often it runs per sample. */
async function warmed(work) {
  let [count, taken] = [0, 0]
  for (; taken < 1e6; count += 100) taken += 100 * (await timed(100, work))
  return Math.max(1, Math.round((count / taken) * 1000 * msPerSample))
}

function turns(steps, everything = false) {
  const setup = { model: mock({ steps }), tools: new Map([[weather.name, weather]]) }
  return (Agent) => {
    if (Agent === undefined) return () => loop(setup, conversation(), 'Hi')
    return agentOf(Agent, { steps, ...(everything && { instructions, layers: [counter], events }) })
  }
}

/** The time of a layer includes a hundredth of the turn itself. */
function layers(scope) {
  const layer = async (_, next) => await next()
  const all = Array.from({ length: depth }, () => layer)
  return (Agent) => {
    if (Agent === undefined) {
      const run = compose(all)
      return () => run({}, async () => undefined)
    }
    const named = all.map((hook, i) => ({ name: `layer${i}`, [scope]: hook }))
    return agentOf(Agent, { steps: scope === 'tool' ? 1 : 0, layers: named })
  }
}

async function agentOf(Agent, { steps, layers = [], events = [], instructions }) {
  const agent = new Agent({ model: mock({ steps }), tools: [weather], instructions }).use(layers)
  let heard = 0
  for (const name of events) agent.on(name, () => heard++)
  await agent.init()
  return () => agent.session().run('Hi')
}
