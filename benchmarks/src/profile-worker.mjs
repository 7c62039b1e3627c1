import { Session } from 'node:inspector/promises'
import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as later } from 'node:timers/promises'
import { promiseHooks } from 'node:v8'
import { allocated } from './rows/bytes.mjs'
import { rows } from './rows/index.mjs'
import { sourcePlace } from './source-place.mjs'
import { median, timed } from './timed.mjs'

// What `profile.mjs` asks of a process of its own: `node profile-worker.mjs <row> <side> <what>` prints it as JSON.
const [id, name, what] = process.argv.slice(2)
const row = rows.find((row) => row.id === id)
const { once, per } = await row.sides[name]()

// Warm, and so long in a row that neither the clock nor a collection decides.
const began = performance.now()
let count = 0
while (performance.now() - began < 2500) {
  await once()
  count++
}
console.log(JSON.stringify(await { time, bytes, promises, cpu, heap }[what]()))

/** CPU and collections of one unit of work. */
async function time() {
  const collections = { minor: 0, major: 0 }
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) collections[detail.kind === 1 ? 'minor' : 'major']++
  })
  observer.observe({ entryTypes: ['gc'] })
  const taken = []
  for (let i = 0; i < 11; i++) taken.push(await timed(Math.ceil(count / 10), once))
  await later()
  await later()
  const done = 11 * Math.ceil(count / 10) * per
  return { µs: median(taken) / per, minor: collections.minor / done, major: collections.major / done }
}

/** Needs --expose-gc and room for a tenth of a second's garbage. */
async function bytes() {
  const works = Math.max(1, Math.min(Math.floor(2000 / per), Math.floor(count / 25)))
  const taken = []
  for (let i = 0; i < 5; i++) taken.push((await allocated(works, once)) / per)
  return { bytes: median(taken) }
}

/** Promises by kind and by the place where they come up: what async functions and `new Promise` make, what `then` derives, awaits. */
async function promises() {
  const works = Math.max(3, Math.floor(300 / per))
  const found = []
  const stop = promiseHooks.onInit((_, parent) => found.push({ parent, frames: callFrames() }))
  for (let i = 0; i < works; i++) await once()
  stop()
  const kinds = { made: 0, derived: 0, awaits: 0 }
  const sites = new Map()
  for (const { parent, frames } of found) {
    const at = frames.findIndex((frame) => frame.getFileName()?.startsWith('file:'))
    // V8 tells an await as a promise that is derived; no `then` was called for it.
    const called = frames.slice(0, at).some((frame) => frame.getFunctionName() === 'then')
    const kind = parent === undefined ? 'made' : called ? 'derived' : 'awaits'
    const site = siteOf(frames[at])
    if (!sites.has(site)) sites.set(site, { made: 0, derived: 0, awaits: 0 })
    for (const counts of [kinds, sites.get(site)]) counts[kind] += 1 / works / per
  }
  return { kinds, sites: [...sites].map(([site, counts]) => ({ site, ...counts })) }
}

/** The frames above the hook. */
function callFrames() {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = 10
  Error.prepareStackTrace = (_, frames) => frames
  const frames = new Error().stack.slice(2)
  Object.assign(Error, { prepareStackTrace, stackTraceLimit })
  return frames
}

function siteOf(frame) {
  if (frame === undefined) return '(node)'
  const place = sourcePlace(frame.getFileName(), frame.getLineNumber() - 1, frame.getColumnNumber() - 1)
  return `${frame.getFunctionName() ?? '(anonymous)'}  ${place}`
}

/** Self time by function and by line, and the profile. */
async function cpu() {
  const inspector = await connected()
  await inspector.post('Profiler.enable')
  await inspector.post('Profiler.setSamplingInterval', { interval: 200 })
  await inspector.post('Profiler.start')
  for (let i = 0; i < count * 2; i++) await once()
  const { profile } = await inspector.post('Profiler.stop')
  const [functions, lines] = [new Map(), new Map()]
  for (const { callFrame, hitCount, positionTicks = [] } of profile.nodes) {
    add(functions, functionOf(callFrame), hitCount)
    for (const { line, ticks } of positionTicks)
      add(lines, functionOf({ ...callFrame, lineNumber: line - 1, columnNumber: 1e6 }), ticks)
  }
  return { sites: shares(functions), lines: shares(lines), profile }
}

/** Bytes by the function that takes them, what was collected since included. */
async function heap() {
  const inspector = await connected()
  await inspector.post('HeapProfiler.startSampling', {
    samplingInterval: 2048,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  const works = Math.max(20, count)
  for (let i = 0; i < works; i++) await once()
  const { profile } = await inspector.post('HeapProfiler.stopSampling')
  const self = new Map()
  const walk = ({ callFrame, selfSize, children }, owner) => {
    // What a builtin takes is its caller's.
    const place = callFrame.url === '' ? owner : functionOf(callFrame)
    const inside =
      callFrame.url === '' && callFrame.functionName !== '(root)' ? `${place} ▸ ${callFrame.functionName}` : place
    if (selfSize > 0) add(self, inside, selfSize / works / per)
    for (const child of children) walk(child, place)
  }
  walk(profile.head, '(node)')
  return { sites: shares(self), profile }
}

async function connected() {
  const inspector = new Session()
  inspector.connect()
  return inspector
}

function add(sums, key, value) {
  sums.set(key, (sums.get(key) ?? 0) + value)
}

function shares(sums) {
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0)
  return [...sums].sort((a, b) => b[1] - a[1]).map(([site, value]) => ({ site, value, share: value / total }))
}

function functionOf({ functionName, url, lineNumber, columnNumber }) {
  const called = functionName || '(anonymous)'
  return url === '' ? called : `${called}  ${sourcePlace(url, lineNumber, columnNumber)}`
}
