/** The sides by name, in the order of the table. Each loads its code when it starts. */
export const sides = {
  bare: {
    title: 'bare Hono handler, one row',
    start: async (o) => (await import('./bare.mjs')).bare(o),
    workloads: ['W1', 'W2'],
  },
  hand: { title: 'by hand: Hono, SQLite, history, SSE', start: async (o) => (await import('./by-hand.mjs')).byHand(o) },
  plain: { title: 'Allium: server and store, no layers', start: async (o) => (await import('./allium.mjs')).plain(o) },
  layers: {
    title: 'Allium with budget, rate limit, PII, retry, usage, compaction',
    start: async (o) => (await import('./allium.mjs')).layered(o),
  },
  durable: { title: 'the same, durable', start: async (o) => (await import('./allium.mjs')).durableLayered(o) },
}
