import { request } from 'node:http'
import { join } from 'node:path'
import { start } from '../process.mjs'
import { drive } from '../workloads.mjs'

const sessions = 10_000
const openAtOnce = 1000

/**
 * Measures the memory of a server with all layers on SQLite: of a session that had a turn and is idle, and of a stream whose model is in
 * the middle of its answer.
 *
 * @returns {Promise<Record<string, { count: number, rss: number, live: number }>>} bytes per each: growth of the resident set, and of
 *   live objects after a collection
 */
export async function memoryOf({ url, folder, share, tell }) {
  const [idle, streams] = [sessions * share, openAtOnce * share]
  const server = await start('scale/server.mjs', ['sqlite', join(folder, 'memory'), url], { flags: ['--expose-gc'] })
  const port = server.first
  await drive(port, 'W1-warm', { requests: 2000, sessions: 200 })
  const found = {}
  const measured = async (name, count, work) => {
    tell(`memory of ${count} ${name}`)
    const earlier = await server.ask('memory')
    await work()
    const later = await server.ask('memory')
    found[name] = { count, rss: (later.rss - earlier.rss) / count, live: (later.live - earlier.live) / count }
  }
  await measured('idle sessions', idle, () => drive(port, 'W1-idle', { requests: idle, sessions: idle }))
  const open = []
  await measured('open streams', streams, async () => {
    for (let i = 0; i < streams; i += 50)
      open.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => openStream(port, i + n)))))
  })
  for (const stream of open) stream.destroy()
  server.kill()
  return found
}

/** Resolves with the first chunk of the answer. */
function openStream(port, n) {
  // A user has at most 100 runs at once.
  const headers = { authorization: `Bearer tenant-${n % 20}`, 'content-type': 'application/json' }
  const place = { host: '127.0.0.1', port, method: 'POST', path: `/sessions/open-${n}/runs` }
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...place, headers: { ...headers, accept: 'text/event-stream' }, agent: false },
      (response) => {
        if (response.statusCode !== 200) return reject(new Error(`${response.statusCode} for stream ${n}`))
        response.setEncoding('utf8').on('data', (text) => text.includes('text-delta') && resolve(sent))
      },
    )
    sent.on('error', () => {})
    sent.end(JSON.stringify({ input: 'W6 question: what fits best?' }))
  })
}
