import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { columns, short } from '../table.mjs'
import { causeOf, causes } from './cause-of.mjs'
import { profiledServer } from './profiled-server.mjs'
import { sides } from './sides/index.mjs'

/** The requests of a profile, as a multiple of a round. */
const times = 10
const perSecond = 999

/**
 * Prints where the CPU of a request goes, by cause and side. All threads and the kernel count, so it needs `perf` on Linux, and the right
 * to use it.
 */
export async function profileCauses({ workload, names, ...options }) {
  const found = {}
  for (const name of names) found[name] = await costsOf(name, { workload, ...options })
  const row = (cause) => [cause, ...names.map((name) => amount(found[name].get(cause)))]
  const total = (costs) => [...costs.values()].reduce((sum, cost) => sum + cost, 0)
  const titles = names.map((name) => sides[name].title)
  const heads = [`${workload}, µs of CPU per request`, ...titles]
  console.log(columns([heads, ...causes.map(row), ['all', ...names.map((name) => amount(total(found[name])))]]))
}

const amount = (cost) => (cost === undefined ? '–' : short(Math.round(cost)))

/** Microseconds per request, by cause. */
async function costsOf(name, options) {
  // V8 also writes a log of its own, which nothing reads.
  const flags = (folder) => [
    ...['--perf-basic-prof', '--interpreted-frames-native-stack'],
    ...['--no-logfile-per-isolate', `--logfile=${join(folder, 'v8.log')}`],
  ]
  const { server, folder, drive, end } = await profiledServer(name, { ...options, flags, warmUp: 2000 })
  const file = join(folder, 'perf.data')
  const pid = await server.ask('pid')
  const recording = await record(pid, file)
  const earlier = await server.ask('cpu')
  const requests = await drive(times)
  const later = await server.ask('cpu')
  await recording.end()
  const samples = await samplesOf(file)
  await end()
  rmSync(`/tmp/perf-${pid}.map`, { force: true })
  const all = [...samples.values()].reduce((sum, count) => sum + count, 0)
  const cpu = later.user + later.system - earlier.user - earlier.system
  return new Map([...samples].map(([cause, count]) => [cause, ((count / all) * cpu) / requests]))
}

async function record(pid, file) {
  const args = ['record', '-e', 'cpu-clock', '-F', String(perSecond), '-g', '-p', String(pid), '-o', file]
  const child = spawn('perf', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const [failed] = await Promise.race([once(child, 'error'), once(child, 'spawn')])
  if (failed !== undefined)
    throw new Error('A profile by cause needs `perf` of Linux on the PATH. Install linux-perf, or leave out --causes.')
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    told += text
  })
  const exited = once(child, 'exit')
  return {
    async end() {
      child.kill('SIGINT')
      await exited
      if (!/captured and wrote/i.test(told)) throw new Error(`perf could not record the server:\n${told}`)
    },
  }
}

/** The number of samples by cause. */
async function samplesOf(file) {
  const child = spawn('perf', ['script', '-i', file, '-F', 'comm,tid,ip,sym,dso'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const counts = new Map()
  let frames = []
  const count = () => {
    if (frames.length > 0) counts.set(causeOf(frames), (counts.get(causeOf(frames)) ?? 0) + 1)
    frames = []
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address, symbol, file] = /^\s+([0-9a-f]+) (.*) \(([^()]*(?:\([^()]*\))?[^()]*)\)$/.exec(line) ?? []
    if (address === undefined) count()
    else frames.push({ address, symbol, file })
  }
  count()
  return counts
}
