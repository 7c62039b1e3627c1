import { hasPackage, packagesOf } from './checkout.mjs'
import { peers } from './peers.mjs'

const alliumSides = {
  plain: { title: 'Allium: server and store, no layers', side: {} },
  layers: { title: 'Allium with budget, rate limit, PII, retry, usage, compaction', side: { layers: true } },
  recorded: { title: 'the same, recorded', side: { layers: true, recorded: true } },
  encrypted: { title: 'with layers, encrypted', side: { layers: true, encrypted: true } },
  durable: { title: 'the same, encrypted and durable', side: { layers: true, encrypted: true, durable: true } },
}

/** A built checkout of an earlier version: its sides of Allium run next to these. */
export const earlier = process.env.ALLIUM_BENCH_EARLIER

/**
 * The sides by name, in the order of the table. Each loads its code when it starts. A side without a page has no UI stream.
 *
 * @type {Record<string, { title: string, start: (place: object) => Promise<object>, workloads?: string[], drivers?: () => Promise<object[]>, page?: boolean }>}
 */
export const sides = {
  bare: {
    title: 'bare Hono handler, one row',
    start: async (place) => (await import('./bare.mjs')).bare(place),
    workloads: ['W1', 'W2', 'W5'],
    page: false,
  },
  hand: {
    title: 'by hand: Hono, SQLite, history, SSE',
    start: async (place) => (await import('./by-hand.mjs')).byHand(place),
  },
  ...alliumOf({}),
  ...peers,
  ...(earlier !== undefined && earlierSides()),
}

/** The names of the sides that run unless the command names others. */
export const defaultNames = Object.keys(sides).filter((name) => !(name in peers))

/** Without a recorded side where the version cannot record. */
function earlierSides() {
  const { recorded, ...others } = alliumSides
  const all = hasPackage(earlier, '@allium/replay') ? { ...others, recorded } : others
  return alliumOf({ prefix: 'earlier', load: packagesOf(earlier), all })
}

function alliumOf({ prefix, load, all = alliumSides }) {
  const entries = Object.entries(all).map(([name, { title, side }]) => [
    prefix === undefined ? name : `${prefix}-${name}`,
    {
      title: prefix === undefined ? title : `${prefix}: ${title}`,
      start: async (place) => (await import('./allium.mjs')).allium({ ...side, load }, place),
      ...(load !== undefined && { drivers: async () => [(await load('libsql')).default] }),
    },
  ])
  return Object.fromEntries(entries)
}
