import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { missedBudgets } from './missed.mjs'
import { measure } from './processes.mjs'
import { rows } from './rows/index.mjs'
import { table } from './table.mjs'
import { lineOf } from './verdict.mjs'

const { values: options, positionals } = parseArgs({
  options: {
    json: { type: 'boolean' },
    quick: { type: 'boolean' },
    profile: { type: 'string' },
    heap: { type: 'boolean' },
    causes: { type: 'boolean' },
    side: { type: 'string' },
    sides: { type: 'string' },
    peers: { type: 'boolean' },
    postgres: { type: 'boolean' },
    ui: { type: 'boolean' },
    node: { type: 'string' },
    rounds: { type: 'string' },
    share: { type: 'string' },
  },
  allowPositionals: true,
})
if (positionals.includes('guards')) {
  const { guards } = await import('./guards/run.mjs')
  await guards()
  process.exit()
}
if (positionals.includes('recall')) {
  if (options.postgres) runWithTsx('recall/with-postgres.mjs')
  const { recallReport } = await import('./recall/run.mjs')
  console.log(await recallReport(progress))
  process.exit()
}
if (positionals.includes('flow')) {
  const cli = ['--conditions=@allium/source', '--import=tsx', 'packages/allium/test/flow/cli.ts']
  execFileSync(process.execPath, cli, { stdio: 'inherit' })
}
if (positionals.includes('request')) {
  if (options.postgres) {
    const rounds = options.quick ? '1' : (options.rounds ?? '5')
    runWithTsx('request/scale/run.mjs', rounds, options.share ?? '1')
  }
  const workloads = positionals.filter((word) => /^w\d$/i.test(word)).map((word) => word.toUpperCase())
  const { settingOf } = await import('./request/settings.mjs')
  const setting = settingOf({ ui: options.ui, share: Number(options.share ?? 1) })
  const nodes = options.node?.split(',') ?? [process.execPath]
  const names = options.sides?.split(',')
  if (options.profile === undefined) {
    const { request } = await import('./request/run.mjs')
    const only = workloads.length === 0 ? undefined : workloads
    const rounds = options.quick ? 1 : options.rounds && Number(options.rounds)
    await request({ setting, nodes, rounds, only, names, withPeers: options.peers, tell: progress })
  } else {
    const workload = options.profile.toUpperCase()
    const [node] = nodes
    if (options.causes) {
      const { profileCauses } = await import('./request/causes.mjs')
      await profileCauses({ setting, node, workload, names: names ?? ['hand', 'plain', 'layers'] })
    } else {
      const { profileRequest } = await import('./request/profile.mjs')
      const name = options.side ?? 'layers'
      await profileRequest({ setting, node, workload, name, heap: options.heap })
    }
  }
  process.exit()
}
const pages = { stores: 'store-postgres', durable: 'durable' }
for (const [name, folder] of Object.entries(pages))
  if (positionals.includes(name)) {
    const page = ['--conditions=@allium/source', '--import=tsx', `packages/${folder}/test/bench/run.ts`]
    process.exit(spawnSync(process.execPath, page, { stdio: 'inherit' }).status ?? 1)
  }
const unknown = positionals.filter((id) => !rows.some((row) => row.id === id))
if (unknown.length > 0)
  throw new Error(`No row "${unknown.join('", "')}". There are: ${rows.map(({ id }) => id).join(', ')}.`)

const chosen = rows.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
const [rounds, most] = options.quick ? [1, 5] : [3, 15]
const samples = await measure(chosen, (row) => Math.min(row.rounds ?? rounds, most), progress)
progress('')

const lines = chosen.map((row) => lineOf(row, samples.get(row.id)))
const machine = `Node ${process.version}, ${cpus()[0].model}`
console.log(`${machine}\n\n${table(lines)}\n\n${summary()}`)
if (options.json) save()
console.log(missedBudgets(lines.filter(({ met }) => met === false)))

/** Ends this process with the other one. */
function runWithTsx(program, ...args) {
  const file = fileURLToPath(new URL(program, import.meta.url))
  process.exit(spawnSync(process.execPath, ['--import=tsx', file, ...args], { stdio: 'inherit' }).status ?? 1)
}

function summary() {
  const budgets = lines.filter(({ met }) => met !== undefined)
  return `${budgets.filter(({ met }) => met).length} of ${budgets.length} budgets met. All sides did the same work.`
}

function save() {
  const folder = new URL('../results/', import.meta.url)
  const file = new URL(`${new Date().toISOString().replaceAll(':', '-')}.json`, folder)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, `${JSON.stringify({ machine, rounds, lines }, undefined, 2)}\n`)
  console.log(`Written to ${file.pathname}`)
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`)
}
