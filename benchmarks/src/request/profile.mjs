import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sourcePlace } from '../source-place.mjs'
import { columns } from '../table.mjs'
import { start } from './process.mjs'
import { drive, workloads } from './workloads.mjs'

/** Prints where the CPU of a side's server goes: by package, then by function. */
export async function profileRequest({ workload, name = 'layers' }) {
  const folder = mkdtempSync(join(tmpdir(), 'request-'))
  const provider = await start('provider.mjs')
  const server = await start('server.mjs', [name, `http://127.0.0.1:${provider.first}`, join(folder, 'db')])
  const { sessions, requests } = workloads[workload]
  await drive(server.first, `${workload}-warm`, { sessions, requests: 1000 })
  await server.ask('profile')
  await drive(server.first, `${workload}-profile`, { sessions, requests: 2 * requests })
  const profile = await server.ask('profiled')
  await server.end()
  provider.kill()
  rmSync(folder, { recursive: true })
  const file = join(mkdtempSync(join(tmpdir(), 'profile-')), `${workload}-${name}.cpuprofile`)
  writeFileSync(file, JSON.stringify(profile))
  console.log(report(profile, 2 * requests))
  console.log(`\nChrome's DevTools opens ${file}`)
}

function report({ nodes, samples, timeDeltas }, requests) {
  const self = new Map(nodes.map(({ id }) => [id, 0]))
  for (const [i, id] of samples.entries()) self.set(id, self.get(id) + timeDeltas[i])
  const [packages, functions] = [new Map(), new Map()]
  const add = (map, key, time) => map.set(key, (map.get(key) ?? 0) + time)
  for (const { id, callFrame } of nodes) {
    if (callFrame.functionName === '(idle)') continue
    add(packages, packageOf(callFrame), self.get(id))
    add(functions, placeOf(callFrame), self.get(id))
  }
  const total = [...packages.values()].reduce((sum, time) => sum + time, 0)
  const table = (head, map, most) =>
    columns([
      ['share', 'µs per request', head],
      ...[...map]
        .sort(([, a], [, b]) => b - a)
        .slice(0, most)
        .map(([key, time]) => [`${((100 * time) / total).toFixed(1)} %`, (time / requests).toFixed(0), key]),
    ])
  return `${table('package', packages, 40)}\n\n${table('function', functions, 60)}`
}

function packageOf({ url, functionName }) {
  if (url.startsWith('node:')) return 'Node'
  if (url === '') return functionName.startsWith('(') ? functionName : 'native'
  const [, own] = url.match(/\/packages\/([^/]+)\/dist\//) ?? []
  const [, installed] = url.match(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/) ?? []
  return own ?? installed ?? 'the benchmark'
}

function placeOf({ url, functionName, lineNumber, columnNumber }) {
  const place = url.startsWith('file:') ? sourcePlace(url, lineNumber, columnNumber) : url
  return `${functionName || '(anonymous)'} ${place}`
}
