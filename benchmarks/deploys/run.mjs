import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Kills an agent that pays, deploys another build, and prints what happened to the payment: node benchmarks/deploys/run.mjs
// The other frameworks are installed outside the workspace, in the folder for temporary files. Nothing but npm is reached.
const here = fileURLToPath(new URL('.', import.meta.url))
const source = ['--conditions=@allium/source', '--import=tsx']
const mastra = (core, libsql) => [`@mastra/core@${core}`, `@mastra/libsql@${libsql}`, 'zod@4.6.7', 'ai@7.0.173']
const langGraph = [
  '@langchain/langgraph@1.7.3',
  '@langchain/langgraph-checkpoint-sqlite@1.0.4',
  '@langchain/core@1.4.0',
  'langchain@1.5.14',
  'zod@4.6.7',
]

const sides = [
  { name: 'Allium, new version', file: 'allium.mjs', env: { VERSIONS: 'new' } },
  {
    name: "Allium, new version, `onInterrupted: 'ask'`",
    file: 'allium.mjs',
    env: { VERSIONS: 'new', INTERRUPTED: 'ask' },
  },
  { name: 'Allium, same version by mistake', file: 'allium.mjs', env: { VERSIONS: 'same' } },
  {
    name: 'Mastra 1.71.0, recovery on',
    file: 'mastra.mjs',
    packages: mastra('1.71.0', '1.23.1'),
    env: { RECOVERY: 'auto' },
  },
  {
    name: 'Mastra 1.71.0, recovery off',
    file: 'mastra.mjs',
    packages: mastra('1.71.0', '1.23.1'),
    env: { RECOVERY: 'off' },
  },
  {
    name: 'Mastra 1.61.0, recovery on',
    file: 'mastra.mjs',
    packages: mastra('1.61.0', '1.20.0'),
    env: { RECOVERY: 'auto' },
  },
  { name: 'LangGraph 1.7.3, SQLite checkpoints', file: 'langgraph.mjs', packages: langGraph, node: '20.20.2', env: {} },
]
const kills = { charge: 'inside the tool, after the payment', 'model 2': 'in the next model call' }
const builds = {
  same: 'the same build',
  instructions: 'other instructions',
  rename: 'the tool is renamed',
  block: 'a layer blocks the turn',
}

for (const [kill, place] of Object.entries(kills)) {
  console.log(`\nKilled ${place}:\n\n| next build | side | payments | receipts | the run |\n|---|---|--:|--:|---|`)
  for (const [build, label] of Object.entries(builds))
    for (const side of sides) {
      const { payments, receipts, end } = outcome(side, kill, build)
      console.log(`| ${label} | ${side.name} | ${payments} | ${receipts} | ${end} |`)
    }
}

function outcome({ file, packages, node = '22.23.3', env: own }, kill, build) {
  const dir = mkdtempSync(join(tmpdir(), 'deploy-'))
  const folder = packages ? installed(packages, file) : here
  const command = packages ? ['npx', '-y', `node@${node}`] : [process.execPath, ...source]
  const play = (word, env) =>
    spawnSync(command[0], [...command.slice(1), join(folder, file), word], {
      cwd: folder,
      env: { ...process.env, ...own, ...env, DIR: dir },
      encoding: 'utf8',
      timeout: 60_000,
    })
  play('start', { KILL: kill, BUILD: 'same' })
  const { stdout, stderr } = play('again', { KILL: '', BUILD: build })
  const log = readFileSync(join(dir, 'effects.log'), 'utf8').trim().split('\n')
  const times = (name) => log.filter((line) => line === name).length
  const said = stdout.trim().split('\n').at(-1)
  return {
    payments: times('charge'),
    receipts: times('receipt'),
    end: said ? JSON.parse(said) : `fails: ${stderr.trim().slice(-200)}`,
  }
}

/** A folder with the packages and the program. An installation is kept for the next call. */
function installed(packages, file) {
  const folder = join(
    tmpdir(),
    `allium-deploys-${packages
      .join('-')
      .replaceAll(/[^\w.]/g, '-')
      .slice(0, 80)}`,
  )
  if (!existsSync(join(folder, 'node_modules'))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    execFileSync('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
      cwd: folder,
      stdio: 'inherit',
    })
  }
  for (const name of ['world.mjs', file]) copyFileSync(join(here, name), join(folder, name))
  return folder
}
