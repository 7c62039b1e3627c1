import { Session } from 'node:inspector/promises'
import { countStatements } from './count-statements.mjs'
import { sides } from './sides/index.mjs'

// The server of one side, in a process of its own. The runner asks it by IPC for its CPU time and memory.

const [name, given] = process.argv.slice(2)
/** @type {{ url: string, file: string, synchronous: 'full' | 'normal', ui: boolean, counting?: boolean }} */
const { counting, ...place } = JSON.parse(given)
const { drivers = async () => [(await import('libsql')).default] } = sides[name]
const counts = counting ? countStatements(await drivers()) : undefined
const { port, close } = await sides[name].start(place)
const profiler = new Session()

const answers = {
  pid: () => process.pid,
  cpu: () => process.cpuUsage(),
  rss: () => process.memoryUsage.rss(),
  counts: () => ({ ...counts }),
  async profile() {
    profiler.connect()
    await profiler.post('Profiler.enable')
    await profiler.post('Profiler.setSamplingInterval', { interval: 200 })
    await profiler.post('Profiler.start')
  },
  profiled: async () => (await profiler.post('Profiler.stop')).profile,
  async heap() {
    profiler.connect()
    await profiler.post('HeapProfiler.startSampling', {
      samplingInterval: 4096,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    })
  },
  heaped: async () => (await profiler.post('HeapProfiler.stopSampling')).profile,
}

process.on('message', async (asked) => {
  if (answers[asked] !== undefined) return process.send({ value: await answers[asked]() })
  await close()
  process.disconnect()
  process.exit()
})
process.on('disconnect', () => process.exit())
process.send({ value: port })
