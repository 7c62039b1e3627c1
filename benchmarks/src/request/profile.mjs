import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sourcePlace } from '../source-place.mjs'
import { columns } from '../table.mjs'
import { profiledServer } from './profiled-server.mjs'

/** Prints where the CPU of a side's server goes, or with `heap` its allocated bytes: by package, then by function. */
export async function profileRequest({ workload, name, heap = false, ...options }) {
  const { server, drive, end } = await profiledServer(name, { workload, ...options })
  await server.ask(heap ? 'heap' : 'profile')
  const requests = await drive(2)
  const profile = await server.ask(heap ? 'heaped' : 'profiled')
  await end()
  const ending = heap ? 'heapprofile' : 'cpuprofile'
  const file = join(mkdtempSync(join(tmpdir(), 'profile-')), `${workload}-${name}.${ending}`)
  writeFileSync(file, JSON.stringify(profile))
  const unit = heap ? 'bytes per request' : 'µs per request'
  console.log(report(heap ? bytesOf(profile) : timesOf(profile), unit, requests))
  console.log(`\nChrome's DevTools opens ${file}`)
}

/** Returns the CPU time of each function. */
function timesOf({ nodes, samples, timeDeltas }) {
  const self = new Map(nodes.map(({ id }) => [id, 0]))
  for (const [i, id] of samples.entries()) self.set(id, self.get(id) + timeDeltas[i])
  return nodes.flatMap(({ id, callFrame }) =>
    callFrame.functionName === '(idle)' ? [] : [{ callFrame, amount: self.get(id) }],
  )
}

/** Returns the bytes that each function allocated, including collected ones. The bytes of a builtin count as its caller's. */
function bytesOf({ head }) {
  const found = []
  const walk = ({ callFrame, selfSize, children }, caller) => {
    const owner = callFrame.url === '' ? caller : callFrame
    found.push({ callFrame: owner, amount: selfSize })
    for (const child of children) walk(child, owner)
  }
  walk(head, head.callFrame)
  return found
}

function report(found, unit, requests) {
  const [packages, functions] = [new Map(), new Map()]
  const add = (map, key, amount) => map.set(key, (map.get(key) ?? 0) + amount)
  for (const { callFrame, amount } of found) {
    add(packages, packageOf(callFrame), amount)
    add(functions, placeOf(callFrame), amount)
  }
  const total = [...packages.values()].reduce((sum, amount) => sum + amount, 0)
  const table = (head, map, most) =>
    columns([
      ['share', unit, head],
      ...[...map]
        .sort(([, a], [, b]) => b - a)
        .slice(0, most)
        .map(([key, amount]) => [`${((100 * amount) / total).toFixed(1)} %`, (amount / requests).toFixed(0), key]),
      ['', (total / requests).toFixed(0), 'all'],
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
