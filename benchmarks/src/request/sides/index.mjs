import { peers } from './peers.mjs'

const own = {
  bare: {
    title: 'bare Hono handler, one row',
    start: async (place) => (await import('./bare.mjs')).bare(place),
    workloads: ['W1', 'W2', 'W5'],
  },
  hand: {
    title: 'by hand: Hono, SQLite, history, SSE',
    start: async (place) => (await import('./by-hand.mjs')).byHand(place),
  },
  plain: {
    title: 'Allium: server and store, no layers',
    start: async (place) => (await import('./allium.mjs')).plain(place),
  },
  layers: {
    title: 'Allium with budget, rate limit, PII, retry, usage, compaction',
    start: async (place) => (await import('./allium.mjs')).layered(place),
  },
  encrypted: {
    title: 'the same, encrypted',
    start: async (place) => (await import('./allium.mjs')).encrypted(place),
  },
  durable: {
    title: 'the same, encrypted and durable',
    start: async (place) => (await import('./allium.mjs')).durableLayered(place),
  },
}

/** A built checkout of an earlier version: its sides of Allium run next to these. */
const earlier = process.env.ALLIUM_BENCH_EARLIER

/** The sides by name, in the order of the table. Each loads its code when it starts. */
export const sides = { ...own, ...peers, ...(earlier !== undefined && earlierSides(earlier)) }

/** The names of the sides that run unless the command names others. */
export const defaultNames = Object.keys(sides).filter((name) => !(name in peers))

function earlierSides(folder) {
  const exports = { plain: 'plain', layers: 'layered', encrypted: 'encrypted', durable: 'durableLayered' }
  const entries = Object.entries(exports).map(([name, key]) => {
    const start = async (place) => (await import(`${folder}/benchmarks/src/request/sides/allium.mjs`))[key](place)
    return [`earlier-${name}`, { title: `earlier: ${own[name].title}`, start }]
  })
  return Object.fromEntries(entries)
}
