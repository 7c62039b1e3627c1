import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { budgetReport } from './budgets.mjs'
import { coldStarts } from './cold-starts.mjs'
import { installPeers } from './install-peers.mjs'
import { labOf } from './lab.mjs'
import { start } from './process.mjs'
import { report } from './report.mjs'
import { interleaved } from './rounds.mjs'
import { defaultNames, sides } from './sides/index.mjs'
import { peers } from './sides/peers.mjs'
import { countRequests } from './statements.mjs'

/**
 * Runs `npm run bench -- request`: measures chat requests on all sides, once with each binary of Node.
 *
 * @param {{ setting: import('./settings.mjs').Setting, nodes: string[], rounds?: number, only?: string[], names?: string[], withPeers?: boolean, tell: (text: string) => void }} options
 */
export async function request({ setting, nodes, withPeers, names: chosen, ...options }) {
  const all = chosen ?? [...defaultNames, ...(withPeers ? Object.keys(peers) : [])]
  const names = all.filter((name) => !setting.ui || sides[name]?.page !== false)
  const unknown = names.filter((name) => !(name in sides))
  if (unknown.length > 0)
    throw new Error(`No side "${unknown.join('", "')}". There are: ${Object.keys(sides).join(', ')}.`)
  if (names.some((name) => name in peers)) installPeers()
  const { rounds = setting.rounds, only = setting.only, tell } = options
  for (const node of nodes) {
    const found = await measureRequests({ setting, node, rounds, only, names, tell })
    console.log(`\n${headOf(setting, node)}\n\n${report(found)}\n\n${judged(found, setting, rounds)}`)
  }
}

async function measureRequests({ setting, node, ...options }) {
  const folder = mkdtempSync(join(tmpdir(), 'request-'))
  const provider = await start('provider.mjs')
  const lab = labOf({ setting, node, folder, url: `http://127.0.0.1:${provider.first}` })
  const all = { ...options, lab }
  try {
    const { names, only } = options
    const cold = await coldStarts(all)
    const counts = await countRequests(all)
    return { names, only, cold, counts, ...(await interleaved(all)) }
  } finally {
    provider.kill()
    rmSync(folder, { recursive: true })
  }
}

function headOf({ ui, synchronous }, node) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const protocol = ui ? 'the UI stream of the AI SDK' : 'the stream of each side'
  return `Servers on Node ${version}, ${protocol}, synchronous = ${synchronous}`
}

function judged(found, setting, rounds) {
  if (rounds < setting.rounds) return `Fewer than ${setting.rounds} rounds say nothing about the budgets.`
  return budgetReport(found, setting)
}
