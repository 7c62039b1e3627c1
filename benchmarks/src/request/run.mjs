import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import Libsql from 'libsql'
import { median } from '../timed.mjs'
import { budgetReport } from './budgets.mjs'
import { history } from './client.mjs'
import { installPeers } from './install-peers.mjs'
import { start } from './process.mjs'
import { report } from './report.mjs'
import { defaultNames, sides } from './sides/index.mjs'
import { peers } from './sides/peers.mjs'
import { drive, workloads } from './workloads.mjs'

/**
 * Measures chat requests on all sides. In each round every side takes its turn, so that other load on the machine affects all.
 *
 * @param {{ rounds: number, only?: string[], names: string[], tell: (text: string) => void }} options
 */
async function measureRequests({ rounds, only = ['W1', 'W2', 'W3', 'W4'], names, tell }) {
  const folder = mkdtempSync(join(tmpdir(), 'request-'))
  const provider = await start('provider.mjs')
  const url = `http://127.0.0.1:${provider.first}`
  try {
    const cold = await coldStarts({ names, rounds, url, folder, tell })
    const counts = await countRequests({ names, only, url, folder, tell })
    const samples = await interleaved({ names, only, rounds, url, folder, tell })
    return { names, only, cold, counts, ...samples }
  } finally {
    provider.kill()
    rmSync(folder, { recursive: true })
  }
}

/** Runs `npm run bench -- request`. */
export async function request({ withPeers, names: chosen, share, ...options }) {
  for (const one of Object.values(workloads)) one.requests = Math.ceil(one.requests * share)
  const names = chosen ?? [...defaultNames, ...(withPeers ? Object.keys(peers) : [])]
  const unknown = names.filter((name) => !(name in sides))
  if (unknown.length > 0)
    throw new Error(`No side "${unknown.join('", "')}". There are: ${Object.keys(sides).join(', ')}.`)
  if (names.some((name) => name in peers)) installPeers()
  const found = await measureRequests({ ...options, names })
  const enough = options.rounds >= 5
  console.log(
    `${report(found)}\n\n${enough ? budgetReport(found) : 'Fewer than five rounds say nothing about the budgets.'}`,
  )
  return found
}

const served =
  (name) =>
  ({ workload }) =>
    sides[name].workloads?.includes(workload) ?? true

async function interleaved({ names, only, rounds, url, folder, tell }) {
  const servers = {}
  for (const name of names) {
    servers[name] = await start('server.mjs', [name, url, join(folder, name)])
    tell(`warming up ${name}`)
    for (const workload of only.filter((workload) => served(name)({ workload })))
      await drive(servers[name].first, `${workload}-warm`, warmUpOf(workload))
  }
  const samples = []
  for (let round = 0; round < rounds; round++)
    for (const workload of only) {
      const texts = {}
      for (const name of names.filter((name) => served(name)({ workload }))) {
        tell(`round ${round + 1} of ${rounds}: ${workload} ${name}`)
        const prefix = prefixOf(workload, round)
        const sample = await sampleOf(servers[name], prefix, workloads[workload], round)
        samples.push({ name, workload, ...sample, rss: await servers[name].ask('rss') })
        texts[name] = await checked(servers[name], prefix, sample, name)
      }
      compare(workload, texts)
    }
  const turns = Object.fromEntries(names.map((name) => [name, turnsOf(name, only, rounds)]))
  const disk = {}
  for (const name of names) {
    await servers[name].end()
    disk[name] = bytesOf(join(folder, name)) / turns[name]
  }
  return { samples, disk }
}

/** The size of a database that no process has open, without a log that its driver left behind. */
function bytesOf(file) {
  const db = new Libsql(file)
  db.pragma('wal_checkpoint(truncate)')
  db.close()
  return statSync(file).size
}

/** Each round has new sessions, except where these need many turns before the measurement. */
const prefixOf = (workload, round) => `${workload}-${workloads[workload].before > 0 ? 0 : round}`

/** Enough requests for the compiler. */
const warmUpOf = (workload) => ({ requests: workload === 'W1' ? 400 : 100, sessions: 200 })

async function sampleOf({ first: port, ask }, prefix, { requests, sessions, before }, round) {
  if (before > 0 && round === 0) await drive(port, prefix, { requests: before * sessions, sessions })
  const earlier = await ask('cpu')
  const answers = await drive(port, prefix, { requests, sessions })
  const later = await ask('cpu')
  const cpu = (later.user + later.system - earlier.user - earlier.system) / 1000 / requests
  return { cpu, answers, bytes: median(answers.map(({ bytes }) => bytes)) }
}

/** The answers, and the stored history of some sessions. */
async function checked({ first: port }, prefix, { answers }, name) {
  const texts = answers.map(({ text }) => text)
  const histories =
    name === 'bare' ? undefined : await Promise.all([0, 7, 15].map((n) => history(port, `${prefix}-${n}`)))
  return { texts, histories }
}

function compare(workload, found) {
  const { hand: expected, ...others } = found
  if (expected === undefined) return
  for (const [name, { texts, histories }] of Object.entries(others)) {
    if (!isDeepStrictEqual(texts, expected.texts)) throw new Error(`${workload}: the answers of "${name}" differ.`)
    if (histories !== undefined && !isDeepStrictEqual(histories, expected.histories))
      throw new Error(
        `${workload}: the histories of "${name}" differ:\n${JSON.stringify(histories[0])}\n${JSON.stringify(expected.histories[0])}`,
      )
  }
}

function turnsOf(name, only, rounds) {
  const of = ({ requests, sessions, before }) => rounds * requests + before * sessions
  return only
    .filter((workload) => served(name)({ workload }))
    .reduce((sum, one) => sum + warmUpOf(one).requests + of(workloads[one]), 0)
}

/** CPU of a process from its start to its first answer. */
async function coldStarts({ names, rounds, url, folder, tell }) {
  const found = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < Math.min(rounds, 3); round++)
    for (const name of names) {
      tell(`cold start of ${name}`)
      const server = await start('server.mjs', [name, url, join(folder, `cold-${name}-${round}`)])
      await drive(server.first, 'W1-cold', { requests: 1, sessions: 1, clients: 1 })
      const { user, system } = await server.ask('cpu')
      found[name].push((user + system) / 1000)
      await server.end()
    }
  return Object.fromEntries(names.map((name) => [name, median(found[name])]))
}

async function countRequests({ names, only, url, folder, tell }) {
  const counts = {}
  for (const name of names) {
    tell(`counting the statements of ${name}`)
    const server = await start('server.mjs', [name, url, join(folder, `count-${name}`), 'counting'])
    counts[name] = {}
    for (const workload of only.filter((workload) => workload !== 'W4' && served(name)({ workload }))) {
      await drive(server.first, `${workload}-warm`, { requests: 16, sessions: 16 })
      counts[name][workload] = await countOf(server, workload)
    }
    await server.end()
  }
  return counts
}

/** One client after the other, so that the count does not depend on which writes share a commit. */
async function countOf({ first: port, ask }, workload) {
  const requests = 40
  const earlier = await ask('counts')
  await drive(port, `${workload}-count`, { requests, sessions: 40, clients: 1 })
  const later = await ask('counts')
  return {
    statements: (later.statements - earlier.statements) / requests,
    commits: (later.commits - earlier.commits) / requests,
    syncs: (later.syncs - earlier.syncs) / requests,
  }
}
